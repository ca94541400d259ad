import { noteUnreported, tokenCount, totalCount, type Usage } from '../../../canonical/usage.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { objectsOf, textOf } from '../../json-fields.ts';

/** Whether a usage holds a count that can be billed: Vertex sends `{trafficType}` alone until the end. */
export function countsTokens(usage: JsonObject): boolean {
  return (
    totalCount(usage['promptTokenCount']) !== undefined ||
    totalCount(usage['candidatesTokenCount']) !== undefined ||
    tokenCount(usage['thoughtsTokenCount']) !== undefined
  );
}

/** What a later chunk reports: counts are cumulative, so the last that is given stands. */
export function mergeUsage(before: JsonObject | undefined, next: JsonObject): JsonObject {
  if (before === undefined || reportsAll(before, next)) return next;
  const given = Object.entries(next).filter(([member, value]) => value !== null && member !== '__proto__');
  return { ...before, ...Object.fromEntries(given) };
}

/** Most chunks count everything again: nothing of the count before is left then. */
function reportsAll(before: JsonObject, next: JsonObject): boolean {
  for (const member in before) if (next[member] === undefined || next[member] === null) return false;
  for (const member in next) if (next[member] === null || member === '__proto__') return false;
  return true;
}

/**
 * Tokens of tool results count as prompt, thinking as completion. The vendor leaves out counts of 0.
 * @param hasOutput something beside thoughts has come, so that its count cannot be 0
 * @param searches the number of queries of the vendor's own search, where it is reported
 * @spec translate-28; the vendor's reference of `UsageMetadata`, read 2026-11
 */
export function decodeUsage(usage: JsonObject, searches: number | undefined, hasOutput = false): Usage {
  const count = (member: string): number => tokenCount(usage[member]) ?? 0;
  const prompt = totalCount(usage['promptTokenCount']);
  const candidates = totalCount(usage['candidatesTokenCount']) ?? (hasOutput ? undefined : 0);
  const promptTokens = (prompt ?? 0) + count('toolUsePromptTokenCount');
  const reasoningTokens = tokenCount(usage['thoughtsTokenCount']);
  const tier = tierOf(usage);
  const audioPromptTokens = modalityTokens(usage, ['promptTokensDetails', 'toolUsePromptTokensDetails'], 'AUDIO');
  const videoPromptTokens = modalityTokens(usage, ['promptTokensDetails', 'toolUsePromptTokensDetails'], 'VIDEO');
  const audioCompletionTokens = modalityTokens(usage, ['candidatesTokensDetails'], 'AUDIO');
  const imageCompletionTokens = modalityTokens(usage, ['candidatesTokensDetails'], 'IMAGE');
  return {
    promptTokens,
    completionTokens: (candidates ?? 0) + (reasoningTokens ?? 0),
    // Part of the prompt, whatever it holds.
    cacheReadTokens: Math.min(count('cachedContentTokenCount'), promptTokens),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(audioPromptTokens !== undefined && { audioPromptTokens }),
    ...(videoPromptTokens !== undefined && { videoPromptTokens }),
    ...(audioCompletionTokens !== undefined && { audioCompletionTokens }),
    ...(imageCompletionTokens !== undefined && { imageCompletionTokens }),
    ...(searches !== undefined && { webSearchRequests: searches }),
    ...(tier !== undefined && { serviceTier: tier }),
    ...noteUnreported(prompt, candidates),
    estimated: false,
  };
}

/** Tokens of one kind of medium in lists of `{modality, tokenCount}`; `undefined` when none is reported. */
function modalityTokens(usage: JsonObject, members: readonly string[], modality: string): number | undefined {
  let reported: number | undefined;
  for (const member of members) {
    const list: Json | undefined = usage[member];
    if (list === undefined) continue;
    for (const entry of objectsOf(list)) {
      const tokens = entry['modality'] === modality ? tokenCount(entry['tokenCount']) : undefined;
      if (tokens !== undefined) reported = (reported ?? 0) + tokens;
    }
  }
  return reported;
}

/** Vertex reports the tier as the kind of traffic. `TrafficType` of @google/genai 2.18 (2026-08) */
const TIER_OF_TRAFFIC: ReadonlyMap<unknown, string> = new Map([
  ['ON_DEMAND', 'standard'],
  ['ON_DEMAND_PRIORITY', 'priority'],
  ['ON_DEMAND_FLEX', 'flex'],
]);

function tierOf(usage: JsonObject): string | undefined {
  return textOf(usage['serviceTier'])?.toLowerCase() ?? TIER_OF_TRAFFIC.get(usage['trafficType']);
}
