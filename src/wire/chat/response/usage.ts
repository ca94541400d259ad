import {
  noteUnreported,
  reportedCharge,
  tokenCount,
  toolRunCount,
  totalCount,
  type Usage,
} from '../../../canonical/usage.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { FinalUsage } from '../../format.ts';
import { encodeCost } from '../../gateway/cost.ts';
import { asExtra, fieldsOf, nestRest, restOf, withExtra } from '../../extra.ts';
import { objectOf } from '../../json-fields.ts';

const USAGE_MEMBERS: ReadonlySet<string> = new Set([
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
  'prompt_cache_hit_tokens',
  'prompt_cache_miss_tokens',
  'cached_tokens',
  'server_tool_use_details',
  'server_tool_use',
  'service_tier',
  'is_byok',
]);
const PROMPT_MEMBERS: ReadonlySet<string> = new Set([
  'cached_tokens',
  'cache_write_tokens',
  'audio_tokens',
  'video_tokens',
]);
const COMPLETION_MEMBERS: ReadonlySet<string> = new Set([
  'reasoning_tokens',
  'audio_tokens',
  'image_tokens',
  'accepted_prediction_tokens',
  'rejected_prediction_tokens',
]);
/** What a provider charges is between it and the operator: the caller reads what the account is charged. */
const MONEY = /^cost/;

/** Whether a usage holds a count that can be billed; hosts also send empty ones, and members of other formats. */
export function countsTokens(usage: JsonObject): boolean {
  return totalCount(usage['prompt_tokens']) !== undefined || totalCount(usage['completion_tokens']) !== undefined;
}

/**
 * @param tier the tier that the response itself names beside its usage
 * @param reasoningInTotal the host counts reasoning nowhere but in the total
 * @spec chat-response-14, translate-28
 */
export function decodeUsage(usage: JsonObject, tier: string | undefined, reasoningInTotal = false): Usage {
  const prompt = objectOf(usage['prompt_tokens_details']);
  const completion = objectOf(usage['completion_tokens_details']);
  const searches = objectOf(usage['server_tool_use_details']) ?? objectOf(usage['server_tool_use']);
  const reportedPrompt = totalCount(usage['prompt_tokens']);
  const reported = reportedPrompt ?? 0;
  const cacheReadTokens = firstCount([
    prompt?.['cached_tokens'],
    // DeepSeek and Moonshot report it outside of the details; their API references, read 2026-11.
    usage['prompt_cache_hit_tokens'],
    usage['cached_tokens'],
  ]);
  const cacheWriteTokens = firstCount([prompt?.['cache_write_tokens']]);
  const cacheTokens = cacheReadTokens + cacheWriteTokens;
  const reasoningTokens =
    tokenCount(completion?.['reasoning_tokens']) ??
    (reasoningInTotal && reportedPrompt !== undefined ? restOfTotal(usage, reported) : undefined);
  const runs = toolRunCount(searches?.['web_search_requests']);
  const served = usage['service_tier'];
  return {
    // An upstream with more cached tokens than prompt tokens counts them apart, as the messages format does (@spec translate-28).
    promptTokens: cacheTokens > reported ? reported + cacheTokens : reported,
    completionTokens: completionTokens(usage, reported, reasoningTokens ?? 0),
    cacheReadTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: 0,
    ...countsOf({
      reasoningTokens,
      audioPromptTokens: prompt?.['audio_tokens'],
      videoPromptTokens: prompt?.['video_tokens'],
      audioCompletionTokens: completion?.['audio_tokens'],
      imageCompletionTokens: completion?.['image_tokens'],
      acceptedPredictionTokens: completion?.['accepted_prediction_tokens'],
      rejectedPredictionTokens: completion?.['rejected_prediction_tokens'],
    }),
    ...(runs !== undefined && { webSearchRequests: runs }),
    ...(typeof served === 'string' ? { serviceTier: served } : tier !== undefined && { serviceTier: tier }),
    ...reportedCharge(usage),
    ...noteUnreported(reportedPrompt, totalCount(usage['completion_tokens'])),
    estimated: false,
    ...asExtra('chat', usageRest(usage, prompt, completion)),
  };
}

/**
 * Counts of completion include reasoning; some upstreams (xAI) count it beside them, which shows in the total.
 */
function completionTokens(usage: JsonObject, promptTokens: number, reasoningTokens: number): number {
  const completion = totalCount(usage['completion_tokens']) ?? 0;
  const total = tokenCount(usage['total_tokens']);
  return total === promptTokens + completion + reasoningTokens ? completion + reasoningTokens : completion;
}

/** `undefined`: the total holds nothing beside its parts. */
function restOfTotal(usage: JsonObject, promptTokens: number): number | undefined {
  const rest = (tokenCount(usage['total_tokens']) ?? 0) - promptTokens - (tokenCount(usage['completion_tokens']) ?? 0);
  return rest > 0 ? rest : undefined;
}

function usageRest(
  usage: JsonObject,
  prompt: JsonObject | undefined,
  completion: JsonObject | undefined,
): JsonObject | undefined {
  const rest = restOf(usage, USAGE_MEMBERS);
  const shown = rest && Object.fromEntries(Object.entries(rest).filter(([member]) => !MONEY.test(member)));
  const inPrompt = nestRest(shown, 'prompt_tokens_details', prompt && restOf(prompt, PROMPT_MEMBERS));
  const all = nestRest(inPrompt, 'completion_tokens_details', completion && restOf(completion, COMPLETION_MEMBERS));
  return all !== undefined && Object.keys(all).length > 0 ? all : undefined;
}

/** The `usage` of the response's end, with what it cost. @spec chat-response-14 */
export function encodeUsage({ usage, charge, isByok, serverCalls }: FinalUsage): JsonObject {
  const { webSearchRequests } = usage;
  const own: JsonObject = {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      ...(usage.cacheWriteTokens > 0 && { cache_write_tokens: usage.cacheWriteTokens }),
      ...given('audio_tokens', usage.audioPromptTokens),
      ...given('video_tokens', usage.videoPromptTokens),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens ?? 0,
      ...given('audio_tokens', usage.audioCompletionTokens),
      ...given('image_tokens', usage.imageCompletionTokens),
      ...given('accepted_prediction_tokens', usage.acceptedPredictionTokens),
      ...given('rejected_prediction_tokens', usage.rejectedPredictionTokens),
    },
    ...encodeCost({ charge, isByok }),
    ...((webSearchRequests !== undefined || serverCalls !== undefined) && {
      server_tool_use_details: {
        ...(serverCalls !== undefined && {
          tool_calls_requested: serverCalls.requested,
          tool_calls_executed: serverCalls.executed,
        }),
        web_search_requests: webSearchRequests ?? 0,
      },
      // The alias of @spec chat-response-15.
      server_tool_use: { web_search_requests: webSearchRequests ?? 0 },
    }),
  };
  return withExtra(own, fieldsOf(usage, 'chat'));
}

function firstCount(values: readonly unknown[]): number {
  for (const value of values) {
    const tokens = tokenCount(value);
    if (tokens !== undefined) return tokens;
  }
  return 0;
}

/** The counts among these members. */
function countsOf<Name extends string>(
  values: Readonly<Record<Name, unknown>>,
): Readonly<Partial<Record<Name, number>>> {
  const counts: Partial<Record<Name, number>> = {};
  for (const name in values) {
    const tokens = tokenCount(values[name]);
    if (tokens !== undefined) counts[name] = tokens;
  }
  return counts;
}

function given(member: string, value: number | undefined): JsonObject | undefined {
  return value === undefined ? undefined : { [member]: value };
}
