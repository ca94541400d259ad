import { type Usage, noteUnreported, tokenCount, toolRunCount, totalCount } from '../../../canonical/usage.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import type { FinalUsage } from '../../format.ts';
import { encodeCost } from '../../gateway/cost.ts';
import { objectAt, textOf, type WireObject } from '../../json-fields.ts';
import { addExtra, extraOf } from '../extra.ts';

/** Counts that have a place of their own in the canonical usage, and what the gateway writes itself. */
const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'cache_creation',
  'output_tokens_details',
  'server_tool_use',
  'service_tier',
  // Another gateway's bill is not ours.
  'cost',
  'cost_details',
  'is_byok',
]);
const NESTED = {
  cache_creation: new Set(['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens']),
  output_tokens_details: new Set(['thinking_tokens']),
  server_tool_use: new Set(['web_search_requests', 'web_fetch_requests']),
};

/** Counts of the prompt: none of them falls while a response comes. */
const PROMPT_COUNTS: ReadonlySet<string> = new Set([
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
]);

/**
 * Adds what a later event reports: counts are cumulative, so the last one that is not null stands. A host that fills up the
 * last event with zeros, or with what is no count, does not take back the counts of the first one. @spec money-22
 */
export function mergeUsage(before: JsonObject | undefined, next: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(next)) return before;
  const merged: WireObject = { ...before };
  for (const member of Object.keys(next)) {
    const value = next[member];
    if (member === '__proto__' || (value === null && merged[member] !== undefined)) continue;
    const isTakenBack = PROMPT_COUNTS.has(member) && (totalCount(value) ?? 0) === 0 && isPositive(merged[member]);
    if (!isTakenBack) merged[member] = value;
  }
  return merged;
}

function isPositive(value: Json | undefined): boolean {
  return (totalCount(value) ?? 0) > 0;
}

/**
 * @param isBegun the response has only begun: its `output_tokens` hold a place, and count nothing
 * @spec money-22, messages-32; `input_tokens` leaves the cache out, the canonical prompt does not
 */
export function decodeUsage(usage: JsonObject, isBegun = false): Usage {
  const creation = objectAt(usage, 'cache_creation');
  const written1h = tokenCount(creation['ephemeral_1h_input_tokens']) ?? 0;
  const written5m = tokenCount(creation['ephemeral_5m_input_tokens']) ?? 0;
  const cacheWriteTokens = tokenCount(usage['cache_creation_input_tokens']) ?? written5m + written1h;
  const cacheReadTokens = tokenCount(usage['cache_read_input_tokens']) ?? 0;
  const reasoningTokens = tokenCount(objectAt(usage, 'output_tokens_details')['thinking_tokens']);
  const searches = toolRunCount(objectAt(usage, 'server_tool_use')['web_search_requests']);
  const fetches = toolRunCount(objectAt(usage, 'server_tool_use')['web_fetch_requests']);
  const serviceTier = textOf(usage['service_tier']);
  const input = totalCount(usage['input_tokens']);
  const output = totalCount(usage['output_tokens']);
  return {
    promptTokens: (input ?? 0) + cacheReadTokens + cacheWriteTokens,
    completionTokens: output ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(written1h, cacheWriteTokens),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(searches !== undefined && { webSearchRequests: searches }),
    ...(fetches !== undefined && { webFetchRequests: fetches }),
    ...(serviceTier !== undefined && { serviceTier }),
    ...noteUnreported(input, isBegun ? undefined : output),
    estimated: false,
    ...extraOf(usage, KNOWN_MEMBERS, NESTED),
  };
}

/**
 * The full usage object: clients break on a missing member (@spec messages-33).
 * @param usage absent: nothing is known yet
 * @spec messages-33
 */
export function encodeUsage(usage: Usage | undefined): WireObject {
  if (usage === undefined) {
    return {
      input_tokens: 0,
      output_tokens: 0,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: null,
      cache_creation: null,
      output_tokens_details: null,
      server_tool_use: null,
      inference_geo: null,
      service_tier: null,
    };
  }
  const encoded = encodeCounts(usage);
  addExtra(encoded, usage.extra);
  encoded['inference_geo'] ??= null;
  encoded['service_tier'] = tierOf(usage);
  return encoded;
}

/** What `message_delta` reports: cumulative counts, and beside them what the response cost. @spec stream-26 */
export function encodeFinalUsage(finalUsage: FinalUsage): WireObject {
  const { usage } = finalUsage;
  const tier = tierOf(usage);
  const encoded = addExtra(encodeCounts(usage), usage.extra);
  return Object.assign(encoded, tier !== null && { service_tier: tier }, encodeCost(finalUsage));
}

/** The usage of a whole response. @spec messages-33 */
export function encodeWholeUsage(finalUsage: FinalUsage): WireObject {
  return Object.assign(encodeUsage(finalUsage.usage), encodeCost(finalUsage));
}

function encodeCounts(usage: Usage): WireObject {
  const { promptTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const written1h = Math.min(usage.cacheWrite1hTokens, cacheWriteTokens);
  const usedTools = usage.webSearchRequests !== undefined || usage.webFetchRequests !== undefined;
  return {
    // An upstream that counts its cache wrongly must not make this negative. @spec translate-28
    input_tokens: Math.max(0, promptTokens - cacheReadTokens - cacheWriteTokens),
    output_tokens: usage.completionTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWriteTokens - written1h,
      ephemeral_1h_input_tokens: written1h,
    },
    output_tokens_details: reasoningTokens === undefined ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: usedTools
      ? { web_search_requests: usage.webSearchRequests ?? 0, web_fetch_requests: usage.webFetchRequests ?? 0 }
      : null,
  };
}

/** The base tier is `default` in chat and `standard` here. @spec messages-33 */
function tierOf({ serviceTier }: Usage): string | null {
  return serviceTier === 'default' ? 'standard' : (serviceTier ?? null);
}
