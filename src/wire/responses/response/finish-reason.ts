import type { EndEvent, FinishReason } from '../../../canonical/events.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { objectOf, textOf } from '../../json-fields.ts';

/**
 * Why a response was cut short; an unknown reason is an ordinary stop. `max_tokens` and `length` are xAI's.
 * @spec translate-25; vercel/ai, `mapXaiResponsesFinishReason`, 2026-08
 */
const FINISH_OF_REASON: ReadonlyMap<string, FinishReason> = new Map([
  ['max_output_tokens', 'length'],
  ['max_tokens', 'length'],
  ['length', 'length'],
  ['content_filter', 'content_filter'],
]);

/** What the response held. */
export interface ResponseTraits {
  readonly calledTools: boolean;
  readonly refused: boolean;
}

/** @param status `undefined`: the upstream does not report how the response ended; `incomplete`: there would have been more */
export function decodeEnd(
  response: JsonObject,
  status: 'completed' | 'incomplete' | undefined,
  { calledTools, refused }: ResponseTraits,
): EndEvent {
  if (status === undefined) return { type: 'end', finish: 'unknown' };
  const incomplete = status === 'incomplete';
  const reason = incomplete ? textOf(objectOf(response['incomplete_details'])?.['reason']) : undefined;
  const nativeFinish = reason ?? (incomplete ? 'incomplete' : 'completed');
  // Cut short without a reason: the length is what cuts responses short.
  const cut = incomplete ? (reason === undefined ? 'length' : FINISH_OF_REASON.get(reason)) : undefined;
  const finish = cut ?? (calledTools ? 'tool_calls' : refused ? 'content_filter' : 'stop');
  return { type: 'end', finish, nativeFinish };
}
