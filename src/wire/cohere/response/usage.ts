import { noteUnreported, tokenCount, totalCount, type Usage } from '../../../canonical/usage.ts';
import type { Json } from '../../../lib/json.ts';
import { objectOf } from '../../json-fields.ts';

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
  const billedPrompt = totalCount(units?.['input_tokens']);
  const billedCompletion = totalCount(units?.['output_tokens']);
  // What is billed may be all that was counted.
  const prompt = totalCount(tokens?.['input_tokens']) ?? billedPrompt;
  const completion = totalCount(tokens?.['output_tokens']) ?? billedCompletion;
  if (prompt === undefined && completion === undefined) return undefined;
  const promptTokens = prompt ?? 0;
  const reasoningTokens = tokenCount(tokens?.['reasoning_tokens']);
  return {
    promptTokens,
    completionTokens: completion ?? 0,
    // Counted from the whole prompt, so that it may be more than what is billed of it.
    cacheReadTokens: Math.min(tokenCount(usage?.['cached_tokens']) ?? 0, promptTokens),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...((billedPrompt !== undefined || billedCompletion !== undefined) && {
      billed: {
        ...(billedPrompt !== undefined && { promptTokens: billedPrompt }),
        ...(billedCompletion !== undefined && { completionTokens: billedCompletion }),
      },
    }),
    ...noteUnreported(prompt, completion),
    estimated: false,
  };
}
