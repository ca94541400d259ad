import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { refreshedEndpoint, refreshedPrice, type RefreshedEndpoint, type RefreshedPrice } from './refreshed.ts';

/** Where the list is: every provider with its models. @source models.dev README "API", read 2026-11 (repository of 2026-07-02) */
export const MODELS_DEV_URL = 'https://models.dev/api.json';

/** Our providers' slugs by the ids of the list, of those whose rows may be read. */
export function slugsOfList(
  providers: readonly { readonly slug: string; readonly models_dev?: string | undefined }[],
): ReadonlyMap<string, string> {
  return new Map(providers.flatMap(({ slug, models_dev: id }) => (id === undefined ? [] : [[id, slug] as const])));
}

/** Names of models that answer in no text, though the list says that they do: it has no word for vectors and scores. */
const NO_CHAT = /embed|rerank|moderation|whisper|guard/i;

/** Its modalities in our words. */
const MODALITIES: ReadonlyMap<Json, string> = new Map([
  ['text', 'text'],
  ['image', 'image'],
  ['pdf', 'file'],
  ['audio', 'audio'],
  ['video', 'video'],
]);

/**
 * The rows of the public list that are of our providers, each as far as it makes sense: a row that does not is left out,
 * a member that does not is unknown.
 * @param list the answer, parsed
 * @param slugs our providers' slugs by the ids of the list
 * @returns `undefined` for what is no such list
 * @source models.dev packages/core/src/schema.ts, 2026-07-02
 */
export function readModelsDev(
  list: Json | undefined,
  slugs: ReadonlyMap<string, string>,
): readonly RefreshedEndpoint[] | undefined {
  if (!isJsonObject(list)) return undefined;
  const found: RefreshedEndpoint[] = [];
  for (const [id, provider] of slugs) {
    const entry = list[id];
    const models = isJsonObject(entry) ? entry['models'] : undefined;
    if (!isJsonObject(models)) continue;
    for (const [model, row] of Object.entries(models)) {
      const endpoint = isJsonObject(row) ? readRow(provider, model, row) : undefined;
      if (endpoint !== undefined) found.push(endpoint);
    }
  }
  return found.length === 0 ? undefined : found;
}

function readRow(provider: string, model: string, row: JsonObject): RefreshedEndpoint | undefined {
  if (row['status'] === 'deprecated' || NO_CHAT.test(model) || NO_CHAT.test(textOf(row['family']))) return undefined;
  const modalities = objectOf(row['modalities']);
  const limit = objectOf(row['limit']);
  const read = refreshedEndpoint.safeParse({
    provider,
    model,
    name: row['name'],
    input_modalities: readModalities(modalities['input']),
    output_modalities: readModalities(modalities['output']),
    ...known('released', row['release_date'], isDate),
    ...known('knowledge_cutoff', row['knowledge'], isDate),
    ...known('context_length', limit['context'], isCount),
    ...known('max_completion_tokens', limit['output'], isCount),
    ...known('price', readPrice(row['cost']), (price) => price !== undefined),
  });
  return read.success ? read.data : undefined;
}

function readPrice(cost: Json | undefined): RefreshedPrice | undefined {
  if (!isJsonObject(cost)) return undefined;
  const { tiers } = cost;
  const overrides = Array.isArray(tiers)
    ? tiers.flatMap((tier) =>
        isJsonObject(tier) ? [{ ...ratesOf(tier), min_prompt_tokens: objectOf(tier['tier'])['size'] }] : [],
      )
    : isJsonObject(cost['context_over_200k'])
      ? [{ ...ratesOf(cost['context_over_200k']), min_prompt_tokens: 200_000 }]
      : [];
  const read = refreshedPrice.safeParse({ ...ratesOf(cost), ...(overrides.length > 0 && { overrides }) });
  return read.success ? read.data : undefined;
}

/** Its rates in our words. */
const RATES = [
  ['input', 'prompt'],
  ['output', 'completion'],
  ['cache_read', 'cache_read'],
  ['cache_write', 'cache_write'],
  ['reasoning', 'reasoning'],
  ['input_audio', 'audio'],
  ['output_audio', 'audio_output'],
] as const;

function ratesOf(cost: JsonObject): JsonObject {
  return Object.fromEntries(
    RATES.flatMap(([theirs, ours]): readonly (readonly [string, Json])[] => {
      const rate = cost[theirs];
      return rate === undefined ? [] : [[ours, rate]];
    }),
  );
}

function readModalities(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? list.flatMap((one) => MODALITIES.get(one) ?? []) : [];
}

function known<Value>(name: string, value: Value, isKnown: (value: Value) => boolean): object {
  return isKnown(value) ? { [name]: value } : {};
}

function isDate(value: Json | undefined): boolean {
  return typeof value === 'string' && /^20\d\d-\d\d(?:-\d\d)?$/.test(value);
}

function isCount(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
