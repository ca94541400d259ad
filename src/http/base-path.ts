/** Generation routes are found under each of these: SDKs differ in what they take for the base of an address. */
export const GENERATION_BASE_PATHS = ['/v1', '/api/v1', '/v1/v1'] as const;
/** Where all other routes are mounted. */
export const BASE_PATH = '/v1';
/** Another base path of those, at the start of a path or of a whole address. */
const OTHER_BASE_PATH = /^(https?:\/\/[^/?#]*)?\/api\/v1(?=\/)/;

/** For Fastify: routes that are mounted once serve both base paths. To mount them takes longest of its start. */
export function rewriteBasePath({ url = '/' }: { readonly url?: string | undefined }): string {
  return url.replace(OTHER_BASE_PATH, `$1${BASE_PATH}`);
}

/** A sentence for a path that leads nowhere; empty below the base path, where it would not help. */
export function hintOfBase(path: string): string {
  return rewriteBasePath({ url: path }).startsWith(`${BASE_PATH}/`) ? '' : ` The API is at ${BASE_PATH}.`;
}
