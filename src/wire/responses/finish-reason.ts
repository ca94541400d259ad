import type { EndEvent, FinishReason } from '../../canonical/events.ts';
import type { JsonObject } from '../../lib/json.ts';
import { objectOf, textOf } from '../members.ts';

/**
 * Why an answer was cut short; a word that is not known is an ordinary stop. `max_tokens` and `length` are xAI's.
 * @source generation.md 11.7 column R; vercel/ai, `mapXaiResponsesFinishReason`, 2026-08
 */
const FINISH_OF_REASON: ReadonlyMap<string, FinishReason> = new Map([
  ['max_output_tokens', 'length'],
  ['max_tokens', 'length'],
  ['length', 'length'],
  ['content_filter', 'content_filter'],
]);

/** What the answer held. */
export interface AnswerTraits {
  readonly calledTools: boolean;
  readonly refused: boolean;
}

/** @param incomplete the upstream says that there would have been more */
export function readEnd(response: JsonObject, incomplete: boolean, { calledTools, refused }: AnswerTraits): EndEvent {
  const reason = incomplete ? textOf(objectOf(response['incomplete_details'])?.['reason']) : undefined;
  const nativeFinish = reason ?? (incomplete ? 'incomplete' : 'completed');
  // Cut short without a word why: the length is what cuts answers short.
  const cut = incomplete ? (reason === undefined ? 'length' : FINISH_OF_REASON.get(reason)) : undefined;
  const finish = cut ?? (calledTools ? 'tool_calls' : refused ? 'content_filter' : 'stop');
  return { type: 'end', finish, nativeFinish };
}
