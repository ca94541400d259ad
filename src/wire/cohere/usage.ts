import { tokenCount, type Usage } from '../../canonical/usage.ts';
import type { Json } from '../../lib/json.ts';
import { objectOf } from '../members.ts';

/**
 * `tokens` is what the model read and wrote, the vendor's own preamble and the model's own marks among it, and
 * `cached_tokens` is a part of it. `billed_units` is what is paid for: "tokens you don't have control over, you are not
 * charged for them". `undefined` when nothing was counted.
 * @source docs.cohere.com "How Does Cohere's Pricing Work?", read 2026-11; `reasoning_tokens` as recorded in 2026-08
 */
export function decodeUsage(value: Json | undefined): Usage | undefined {
  const usage = objectOf(value);
  const tokens = objectOf(usage?.['tokens']);
  const units = objectOf(usage?.['billed_units']);
  const billed = readCounts(units?.['input_tokens'], units?.['output_tokens']);
  const read = readCounts(tokens?.['input_tokens'], tokens?.['output_tokens']) ?? billed;
  if (read === undefined) return undefined;
  const reasoningTokens = tokenCount(tokens?.['reasoning_tokens']);
  return {
    ...read,
    // Counted from the whole prompt, so that it may be more than what is billed of it.
    cacheReadTokens: Math.min(tokenCount(usage?.['cached_tokens']) ?? 0, read.promptTokens),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(billed !== undefined && { billed }),
    estimated: false,
  };
}

function readCounts(
  prompt: Json | undefined,
  completion: Json | undefined,
): Pick<Usage, 'promptTokens' | 'completionTokens'> | undefined {
  const promptTokens = tokenCount(prompt);
  const completionTokens = tokenCount(completion);
  if (promptTokens === undefined && completionTokens === undefined) return undefined;
  return { promptTokens: promptTokens ?? 0, completionTokens: completionTokens ?? 0 };
}
