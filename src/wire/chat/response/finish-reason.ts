import type { FinishReason } from '../../../canonical/events.ts';

/**
 * Finish reasons of upstreams. Any other is an ordinary stop. @spec translate-25; those of
 * single vendors from their API references, read 2026-11: `model_length` Mistral, `insufficient_system_resource`
 * DeepSeek, `sensitive` and `network_error` Z.AI, `abort` vLLM and SGLang
 */
const MEANING: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['error', 'error'],
  ['abort', 'error'],
  ['insufficient_system_resource', 'error'],
  ['network_error', 'error'],
]);

/**
 * A response that holds calls ended for them, whatever the upstream's reason: OpenAI sends `stop` after a call that the
 * request forced, and agents would not run it.
 */
export function decodeFinishReason(word: string | undefined, hasCalls: boolean): FinishReason {
  if (word === undefined) return 'unknown';
  const meaning = MEANING.get(word.toLowerCase()) ?? 'stop';
  return meaning === 'stop' && hasCalls ? 'tool_calls' : meaning;
}

/** @param legacy the caller declared `functions`, whose calls have a finish reason of their own */
export function encodeFinishReason(finish: FinishReason, legacy: true | undefined): string | null {
  if (finish === 'unknown') return null;
  return legacy === true && finish === 'tool_calls' ? 'function_call' : finish;
}
