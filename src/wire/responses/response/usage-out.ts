import type { JsonObject } from '../../../lib/json.ts';
import { fieldsOf, withExtra } from '../../extra.ts';
import type { FinalUsage } from '../../format.ts';
import { encodeCost } from '../../gateway/cost.ts';

/** Clients fail on a details object without its counter, so that those are always there. */
export function encodeUsage({ usage, charge, isByok, serverCalls }: FinalUsage): JsonObject {
  const { webSearchRequests } = usage;
  const own: JsonObject = {
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      ...(usage.cacheWriteTokens > 0 && { cache_write_tokens: usage.cacheWriteTokens }),
      ...(usage.audioPromptTokens !== undefined && { audio_tokens: usage.audioPromptTokens }),
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: {
      reasoning_tokens: usage.reasoningTokens ?? 0,
      ...(usage.imageCompletionTokens !== undefined && { image_tokens: usage.imageCompletionTokens }),
      ...(usage.audioCompletionTokens !== undefined && { audio_tokens: usage.audioCompletionTokens }),
    },
    total_tokens: usage.promptTokens + usage.completionTokens,
    ...encodeCost({ charge, isByok }, COST_PARTS),
    server_tool_use_details:
      webSearchRequests === undefined && serverCalls === undefined
        ? null
        : {
            ...(serverCalls !== undefined && {
              tool_calls_requested: serverCalls.requested,
              tool_calls_executed: serverCalls.executed,
            }),
            web_search_requests: webSearchRequests ?? 0,
          },
  };
  return withExtra(own, fieldsOf(usage, 'responses'));
}

/** What responses calls the parts of the provider's price. */
const COST_PARTS = { prompt: 'upstream_inference_input_cost', completion: 'upstream_inference_output_cost' };

/** Nothing was counted: a response that failed before anything was read. */
export function isCounted({ usage }: FinalUsage): boolean {
  return usage.promptTokens > 0 || usage.completionTokens > 0;
}
