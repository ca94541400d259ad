import {
  noteUnreported,
  reportedCharge,
  tokenCount,
  toolRunCount,
  totalCount,
  type Usage,
} from '../../../canonical/usage.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { objectOf, objectsOf, textOf } from '../../json-fields.ts';
import { asExtra, nestRest, restOf } from '../../extra.ts';

const USAGE_MEMBERS: ReadonlySet<string> = new Set([
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'input_tokens_details',
  'output_tokens_details',
  'is_byok',
]);
const NESTED = {
  input_tokens_details: new Set([
    'cached_tokens',
    'cache_write_tokens',
    'cache_read_input_tokens',
    'cache_creation_input_tokens',
    'audio_tokens',
  ]),
  output_tokens_details: new Set(['reasoning_tokens', 'audio_tokens', 'image_tokens']),
};
/** What a provider charges is between it and the operator: the caller reads what the account is charged. */
const MONEY = /^cost/;

/** Whether a usage holds a count that can be billed: responses begin with an empty one. */
function countsTokens(usage: JsonObject): boolean {
  return totalCount(usage['input_tokens']) !== undefined || totalCount(usage['output_tokens']) !== undefined;
}

/**
 * The reported usage of a response; `undefined` when there is none. @param response with `usage`, and beside it
 * `service_tier` and `tool_usage`
 * @spec translate-28
 */
export function decodeUsage(response: JsonObject): Usage | undefined {
  const usage = objectOf(response['usage']);
  if (usage === undefined || !countsTokens(usage)) return undefined;
  const input = objectOf(usage['input_tokens_details']) ?? {};
  const output = objectOf(usage['output_tokens_details']) ?? {};
  const reportedInput = totalCount(usage['input_tokens']);
  const reported = reportedInput ?? 0;
  // The second names are Perplexity's: its OpenAPI document, "ResponsesUsage", read 2026-11.
  const cacheReadTokens = tokenCount(input['cached_tokens']) ?? tokenCount(input['cache_read_input_tokens']) ?? 0;
  const cacheWriteTokens =
    tokenCount(input['cache_write_tokens']) ?? tokenCount(input['cache_creation_input_tokens']) ?? 0;
  const cacheTokens = cacheReadTokens + cacheWriteTokens;
  const reasoningTokens = tokenCount(output['reasoning_tokens']);
  const searches = countSearches(response);
  const tier = textOf(response['service_tier']);
  return {
    // An upstream with more cached tokens than input tokens counts them apart: some responses of xAI do (vercel/ai,
    // `convertXaiResponsesUsage`, 2026-08).
    promptTokens: cacheTokens > reported ? reported + cacheTokens : reported,
    completionTokens: countCompletion(usage, reported, reasoningTokens ?? 0),
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: 0,
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...given('audioPromptTokens', input['audio_tokens']),
    ...given('audioCompletionTokens', output['audio_tokens']),
    ...given('imageCompletionTokens', output['image_tokens']),
    ...(searches > 0 && { webSearchRequests: searches }),
    ...(tier !== undefined && { serviceTier: tier }),
    ...reportedCharge(usage),
    ...noteUnreported(reportedInput, totalCount(usage['output_tokens'])),
    estimated: false,
    ...asExtra('responses', decodeRest(usage, response)),
  };
}

/** Output includes reasoning; a host that counts it apart shows so in the total, or by less output than reasoning. */
function countCompletion(usage: JsonObject, inputTokens: number, reasoningTokens: number): number {
  const output = totalCount(usage['output_tokens']) ?? 0;
  const isApart = tokenCount(usage['total_tokens']) === inputTokens + output + reasoningTokens;
  return isApart || output < reasoningTokens ? output + reasoningTokens : output;
}

/** Posts of X cost what pages cost. docs.x.ai "Tools Pricing", read 2026-11 */
const SEARCH_CALLS: ReadonlySet<string> = new Set(['web_search_call', 'x_search_call']);

/** Newer responses report the count beside the usage; in others each search is an item. */
function countSearches(response: JsonObject): number {
  const reported = toolRunCount(objectOf(objectOf(response['tool_usage'])?.['web_search'])?.['num_requests']);
  if (reported !== undefined) return reported;
  return objectsOf(response['output']).filter(
    ({ type, action }) => SEARCH_CALLS.has(textOf(type) ?? '') && (objectOf(action)?.['type'] ?? 'search') === 'search',
  ).length;
}

function decodeRest(usage: JsonObject, response: JsonObject): JsonObject | undefined {
  const rest = restOf(usage, USAGE_MEMBERS, NESTED);
  const shown = rest && Object.fromEntries(Object.entries(rest).filter(([member]) => !MONEY.test(member)));
  const all = nestRest(shown, 'tool_usage', decodeToolUsage(response['tool_usage']));
  return all !== undefined && Object.keys(all).length > 0 ? all : undefined;
}

/** A tool that is a model of its own (pictures) counts its tokens there; of tools that were not used the counts are 0. */
function decodeToolUsage(usage: Json | undefined): JsonObject | undefined {
  const used = Object.entries(objectOf(usage) ?? {}).filter(
    ([tool, counts]) => tool !== 'web_search' && (tokenCount(objectOf(counts)?.['total_tokens']) ?? 0) > 0,
  );
  return used.length === 0 ? undefined : Object.fromEntries(used);
}

function given<Name extends string>(name: Name, value: unknown): Readonly<Partial<Record<Name, number>>> {
  const count: Partial<Record<Name, number>> = {};
  const tokens = tokenCount(value);
  if (tokens !== undefined) count[name] = tokens;
  return count;
}
