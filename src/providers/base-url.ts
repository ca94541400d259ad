/** A version segment as hosts spell it: `v1`, `v4`, `v1beta`, `v1alpha2`. */
const VERSION_SEGMENT = /^v\d+(?:(?:alpha|beta)\d*)?$/;
/** What both formats' official hosts put before their paths: `/v1/chat/completions`, `/v1/messages`. */
const USUAL_VERSION = '/v1';

/**
 * A base URL as an operator wrote it, completed to what a format's path can be put behind: no trailing slash, with the
 * version segment. A bare host of a provider whose own base URL is known gets that provider's path
 * (`https://api.groq.com` becomes `https://api.groq.com/openai/v1`); elsewhere a path without a version gets the version of
 * that provider, or `/v1`.
 * @param providerBaseUrl the provider's own, where it has one; one without a version means that none is ever added
 * @throws RangeError with a sentence for the operator that holds no part of the URL
 * @spec catalog-18
 */
export function normaliseBaseUrl(text: string, providerBaseUrl?: string): string {
  const { origin, path } = splitBaseUrl(text);
  if (isVersioned(path)) return origin + path;
  if (providerBaseUrl === undefined) return origin + path + USUAL_VERSION;
  const own = splitBaseUrl(providerBaseUrl);
  if (!isVersioned(own.path)) return origin + path;
  if (origin === own.origin && own.path.startsWith(`${path}/`)) return origin + own.path;
  return `${origin}${path}/${own.path.split('/').find((segment) => VERSION_SEGMENT.test(segment))}`;
}

/**
 * The base URL that a host variable of a local engine means: `127.0.0.1`, `:8080`, `box:11434`, `https://box/prefix`.
 * The variable names what the engine listens on, so an address that means "all interfaces" is reached on loopback.
 * @throws RangeError as `normaliseBaseUrl`
 */
export function baseUrlOfHost(text: string, defaultPort: number): string {
  const hasScheme = text.includes('://');
  const url = parseUrl(hasScheme ? text : `http://${text.startsWith(':') ? `127.0.0.1${text}` : text}`);
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1';
  if (url.hostname === '[::]') url.hostname = '[::1]';
  if (!hasScheme && url.port === '') url.port = String(defaultPort);
  return normaliseBaseUrl(url.href);
}

function splitBaseUrl(text: string): { readonly origin: string; readonly path: string } {
  const url = parseUrl(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new RangeError('must start with http:// or https://');
  // Credentials would end up in logs, and a query behind a base URL cannot be followed by a path.
  if (url.username !== '' || url.password !== '') throw new RangeError('must not hold credentials');
  if (url.search !== '' || url.hash !== '') throw new RangeError('must not hold a query or a fragment');
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}

function parseUrl(text: string): URL {
  const url = URL.parse(text.trim());
  if (url === null) throw new RangeError('must be a URL such as https://api.example.com/v1');
  return url;
}

function isVersioned(path: string): boolean {
  return path.split('/').some((segment) => VERSION_SEGMENT.test(segment));
}
