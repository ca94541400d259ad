import type { Usage } from '../../canonical/usage.ts';
import { tokenCount, toolRunCount } from '../../canonical/usage.ts';
import { isJsonObject } from '../../lib/json.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import type { Closing } from '../format.ts';
import { drawCost } from '../gateway/cost.ts';
import { addExtra, extraOf, stringOf } from './wire-object.ts';
import type { WireObject } from './wire-object.ts';

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

/** Adds what a later event reports: counts are cumulative, so the last one that is not null stands. generation.md 11.8 */
export function mergeUsage(before: JsonObject | undefined, next: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(next)) return before;
  const merged: WireObject = { ...before };
  for (const member of Object.keys(next)) {
    const value = next[member];
    if (member !== '__proto__' && (value !== null || merged[member] === undefined)) merged[member] = value;
  }
  return merged;
}

/** @source generation.md 11.8; `input_tokens` leaves the cache out, the canonical prompt does not */
export function readUsage(usage: JsonObject): Usage {
  const creation = objectAt(usage, 'cache_creation');
  const written1h = tokenCount(creation['ephemeral_1h_input_tokens']) ?? 0;
  const written5m = tokenCount(creation['ephemeral_5m_input_tokens']) ?? 0;
  const cacheWriteTokens = tokenCount(usage['cache_creation_input_tokens']) ?? written5m + written1h;
  const cacheReadTokens = tokenCount(usage['cache_read_input_tokens']) ?? 0;
  const reasoningTokens = tokenCount(objectAt(usage, 'output_tokens_details')['thinking_tokens']);
  const searches = toolRunCount(objectAt(usage, 'server_tool_use')['web_search_requests']);
  const fetches = toolRunCount(objectAt(usage, 'server_tool_use')['web_fetch_requests']);
  const serviceTier = stringOf(usage['service_tier']);
  return {
    promptTokens: (tokenCount(usage['input_tokens']) ?? 0) + cacheReadTokens + cacheWriteTokens,
    completionTokens: tokenCount(usage['output_tokens']) ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(written1h, cacheWriteTokens),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(searches !== undefined && { webSearchRequests: searches }),
    ...(fetches !== undefined && { webFetchRequests: fetches }),
    ...(serviceTier !== undefined && { serviceTier }),
    estimated: false,
    ...extraOf(usage, KNOWN_MEMBERS, NESTED),
  };
}

/**
 * The full usage object: clients break on a missing member (pains.md 25).
 * @param usage absent: nothing is known yet
 * @source seed 2.7, generation.md 7.9
 */
export function drawUsage(usage: Usage | undefined): WireObject {
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
  const drawn = drawCounts(usage);
  addExtra(drawn, usage.extra);
  drawn['inference_geo'] ??= null;
  drawn['service_tier'] = tierOf(usage);
  return drawn;
}

/** What `message_delta` reports: cumulative counts, and beside them what the answer cost. @source generation.md 7.10 */
export function drawFinalUsage(closing: Closing): WireObject {
  const { usage } = closing;
  const tier = tierOf(usage);
  const drawn = addExtra(drawCounts(usage), usage.extra);
  return Object.assign(drawn, tier !== null && { service_tier: tier }, drawCost(closing));
}

/** The usage of a whole answer. @source generation.md 7.9 */
export function drawWholeUsage(closing: Closing): WireObject {
  return Object.assign(drawUsage(closing.usage), drawCost(closing));
}

function drawCounts(usage: Usage): WireObject {
  const { promptTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  const written1h = Math.min(usage.cacheWrite1hTokens, cacheWriteTokens);
  const usedTools = usage.webSearchRequests !== undefined || usage.webFetchRequests !== undefined;
  return {
    // An upstream that counts its cache wrongly must not make this negative. pains.md 27
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

/** The base tier is `default` in chat and `standard` here. @source generation.md 3.5 */
function tierOf({ serviceTier }: Usage): string | null {
  return serviceTier === 'default' ? 'standard' : (serviceTier ?? null);
}

function objectAt(object: JsonObject, member: string): JsonObject {
  const value = object[member];
  return isJsonObject(value) ? value : {};
}
