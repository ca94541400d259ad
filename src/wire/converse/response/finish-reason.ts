import type { EndEvent, FinishReason } from '../../../canonical/events.ts';
import { isJsonObject, type Json } from '../../../lib/json.ts';
import { objectAt, textOf } from '../../json-fields.ts';

/** @spec translate-25; anything else is an ordinary stop */
const FINISH_OF_STOP_REASON: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['malformed_model_output', 'error'],
  ['malformed_tool_use', 'error'],
]);

/**
 * Paths of the stop sequence that a model hit, for `additionalModelResponseFieldPaths`. A whole response and a stream have
 * different paths; a path that leads nowhere is ignored.
 * @source docs.aws.amazon.com, API reference "Converse", `additionalModelResponseFieldPaths`, read 2026-11
 */
export const STOP_SEQUENCE_PATHS: readonly string[] = ['/stop_sequence', '/delta/stop_sequence'];

/** @param modelFields `additionalModelResponseFields` */
export function endEvent(stopReason: string | undefined, modelFields: Json | undefined): EndEvent {
  const fields = isJsonObject(modelFields) ? modelFields : {};
  const stopSequence = textOf(fields['stop_sequence']) ?? textOf(objectAt(fields, 'delta')['stop_sequence']);
  return {
    type: 'end',
    finish: stopReason === undefined ? 'unknown' : (FINISH_OF_STOP_REASON.get(stopReason) ?? 'stop'),
    ...(stopReason !== undefined && { nativeFinish: stopReason }),
    ...(stopSequence !== undefined && { stopSequence }),
  };
}
