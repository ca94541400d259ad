import type { FinishReason } from '../../../canonical/events.ts';

/**
 * @spec translate-25. Words that came since (`FinishReason` of @google/genai 2.18 and of Vertex, 2026-08) stand
 * with their kind. Anything else is an ordinary stop.
 */
const FINISH_OF_WORD: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['OTHER', 'stop'],
  ['LANGUAGE', 'stop'],
  ['FINISH_REASON_UNSPECIFIED', 'stop'],
  ['MALFORMED_FUNCTION_CALL', 'error'],
  ['UNEXPECTED_TOOL_CALL', 'error'],
  ['TOO_MANY_TOOL_CALLS', 'error'],
  ['MISSING_THOUGHT_SIGNATURE', 'error'],
  ['MALFORMED_RESPONSE', 'error'],
  ['NO_IMAGE', 'error'],
  ['IMAGE_OTHER', 'error'],
]);

/** @param calledTools the response calls functions of the caller, which its finish reason does not show */
export function decodeFinishReason(word: string | undefined, calledTools: boolean): FinishReason {
  if (word === undefined) return 'unknown';
  const finish = FINISH_OF_WORD.get(word) ?? 'stop';
  return finish === 'stop' && calledTools ? 'tool_calls' : finish;
}
