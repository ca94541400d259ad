import type { FinishReason } from '../../../canonical/events.ts';

/**
 * Why the model stopped. `ERROR` and `TIMEOUT` are missing because they are failures, and any other reason is an ordinary
 * stop. The last two are from the first version of the format that hosts still use.
 * @source types of the vendor's SDK, cohere-ai/cohere-python `ChatFinishReason`, `FinishReason` (2026-08)
 */
const MEANING: ReadonlyMap<string, FinishReason> = new Map([
  ['COMPLETE', 'stop'],
  ['STOP_SEQUENCE', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  ['ERROR_LIMIT', 'length'],
  ['ERROR_TOXIC', 'content_filter'],
]);

/** The HTTP status that a failure would have had as a response of its own, by its finish reason. */
const STATUS: ReadonlyMap<string, number> = new Map([
  ['ERROR', 500],
  ['TIMEOUT', 504],
]);

/** A response that holds calls ended for them, whatever the upstream's reason. */
export function decodeFinishReason(word: string | undefined, hasCalls: boolean): FinishReason {
  if (word === undefined) return 'unknown';
  const meaning = MEANING.get(word.toUpperCase()) ?? 'stop';
  return meaning === 'stop' && hasCalls ? 'tool_calls' : meaning;
}

/** `undefined` for a response that did not fail. */
export function statusOfFinish(word: string): number | undefined {
  return STATUS.get(word.toUpperCase());
}
