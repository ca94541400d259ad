import { type Usage, noteUnreported, tokenCount, totalCount } from '../../../canonical/usage.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { objectsOf } from '../../json-fields.ts';

/**
 * `inputTokens` leaves the cache out, the canonical prompt does not. Some models report each cache count under a second
 * name, too (`cacheReadInputTokenCount`).
 * @param serviceTier stands beside the usage
 * @spec translate-28; AWS SDK `TokenUsage`, 3.1162 (2026-11)
 */
export function decodeUsage(usage: JsonObject, serviceTier: string | undefined): Usage {
  const cacheReadTokens = countOf(usage, 'cacheReadInputTokens', 'cacheReadInputTokenCount') ?? 0;
  const details = objectsOf(usage['cacheDetails']);
  const written1h = sum(details.filter(({ ttl }) => ttl === '1h'));
  const cacheWriteTokens =
    countOf(usage, 'cacheWriteInputTokens', 'cacheWriteInputTokenCount') ?? tokenCount(sum(details)) ?? 0;
  const input = totalCount(usage['inputTokens']);
  const output = totalCount(usage['outputTokens']);
  return {
    promptTokens: (input ?? 0) + cacheReadTokens + cacheWriteTokens,
    completionTokens: output ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: Math.min(written1h, cacheWriteTokens),
    ...(serviceTier !== undefined && { serviceTier }),
    ...noteUnreported(input, output),
    estimated: false,
  };
}

function countOf(usage: JsonObject, ...members: readonly string[]): number | undefined {
  return members.map((member) => tokenCount(usage[member])).find((count) => count !== undefined);
}

function sum(details: readonly JsonObject[]): number {
  return details.reduce((total, { inputTokens }) => total + (tokenCount(inputTokens) ?? 0), 0);
}
