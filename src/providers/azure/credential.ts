import { z } from 'zod';
import { parseJson } from '../../lib/json.ts';
import { SettingError, type ByokCredential, type ByokTo } from '../contract.ts';

const AZURE_HOST = /\.azure\.(?:com|us|cn)$/;
const DEPLOYMENT_PATH = /\/openai\/deployments\/([^/]+)/;

/** @spec byok-14 */
const entrySchema = z.union([
  z.strictObject({
    api_key: z.string().min(1),
    resource_name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/i),
    resource_type: z.enum(['ai_foundry', 'openai']).default('openai'),
  }),
  z.strictObject({
    model_slug: z.string().min(1),
    endpoint_url: z.url(),
    api_key: z.string().min(1),
    model_id: z.string().min(1),
  }),
]);

const HOST_OF_TYPE = { openai: 'openai.azure.com', ai_foundry: 'services.ai.azure.com' } as const;

/**
 * A list of places: resources for every model, and deployments for one model each, which come before them.
 */
export function readAzureCredential(text: string, to: ByokTo): readonly ByokCredential[] {
  if (!/^\s*[[{]/.test(text)) return plainKey(text, to);
  const parsed = parseJson(text);
  const result = z
    .array(entrySchema)
    .min(1)
    .safeParse(Array.isArray(parsed) ? parsed : [parsed]);
  // The message names the invalid field, never its value.
  if (!result.success) throw new SettingError('key', `${wordsOf(result.error.issues[0]?.path)} is no place at Azure`);
  return result.data.map((entry) => ('resource_name' in entry ? atResource(entry, to) : atDeployment(entry, to)));
}

function wordsOf(path: readonly PropertyKey[] | undefined): string {
  return path === undefined || path.length === 0 ? 'it' : `its entry ${path.map(String).join('.')}`;
}

function plainKey(text: string, { baseUrl }: ByokTo): readonly ByokCredential[] {
  if (baseUrl === undefined)
    throw new SettingError('key', 'must be JSON: a list of {api_key, resource_name} or deployments');
  return [{ apiKey: text, shown: text, baseUrl }];
}

function atResource(
  entry: { readonly api_key: string; readonly resource_name: string; readonly resource_type: 'openai' | 'ai_foundry' },
  to: ByokTo,
): ByokCredential {
  const baseUrl = to.baseUrl ?? `https://${entry.resource_name}.${HOST_OF_TYPE[entry.resource_type]}`;
  return { apiKey: entry.api_key, shown: entry.api_key, baseUrl };
}

/** A deployment's own address, as the vendor's pages show it. The credential goes to the vendor's hosts only. */
function atDeployment(
  entry: {
    readonly api_key: string;
    readonly endpoint_url: string;
    readonly model_slug: string;
    readonly model_id: string;
  },
  to: ByokTo,
): ByokCredential {
  const url = new URL(entry.endpoint_url);
  if (url.protocol !== 'https:' || !AZURE_HOST.test(url.hostname))
    throw new SettingError('key', 'its endpoint_url must be an https address of Azure');
  const [, deployment] = DEPLOYMENT_PATH.exec(url.pathname) ?? [];
  const version = deployment === undefined ? undefined : url.searchParams.get('api-version');
  return {
    apiKey: entry.api_key,
    shown: entry.api_key,
    baseUrl: to.baseUrl ?? url.origin,
    ...(typeof version === 'string' && { options: { api_version: version } }),
    model: entry.model_slug,
    upstreamModel: deployment === undefined ? entry.model_id : decodeURIComponent(deployment),
  };
}
