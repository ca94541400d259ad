import type { EndEvent, FinishReason } from '../../../canonical/events.ts';
import { unreachable } from '../../../lib/assert.ts';
import type { JsonObject } from '../../../lib/json.ts';

/** @spec translate-25; anything else is an ordinary stop */
const FINISH_OF_STOP_REASON: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

function finishOf(stopReason: string | undefined): FinishReason {
  if (stopReason === undefined) return 'unknown';
  if (!Object.hasOwn(FINISH_OF_STOP_REASON, stopReason)) return 'stop';
  return FINISH_OF_STOP_REASON[stopReason] ?? 'stop';
}

/**
 * Where the extra of an end keeps what only a stream's closing `delta` held: there it goes back, and in a whole response
 * beside the rest.
 */
export const END_DELTA = 'delta';

/** @param fields `stop_details`, `container`, and other members of the response's end */
export function endEvent(
  stopReason: string | undefined,
  stopSequence: string | undefined,
  fields: JsonObject,
): EndEvent {
  return {
    type: 'end',
    finish: finishOf(stopReason),
    ...(stopReason !== undefined && { nativeFinish: stopReason }),
    ...(stopSequence !== undefined && { stopSequence }),
    ...(Object.keys(fields).length > 0 && { extra: { format: 'messages', fields } }),
  };
}

/** Traits of the response that the upstream's own stop reason may not show. */
export interface ResponseTraits {
  /** The upstream spoke this format. */
  readonly native: boolean;
  readonly calledTools: boolean;
  readonly refused: boolean;
}

/**
 * The `stop_reason` of a response. A vendor's own reason is passed on, unless something on the way changed how the response
 * ended; where the upstream gave none, none is made up. @spec messages-27
 */
export function stopReasonOf(end: EndEvent | undefined, traits: ResponseTraits): string | null {
  if (end === undefined) return 'end_turn';
  const { finish, nativeFinish, stopSequence } = end;
  if (traits.native && nativeFinish !== undefined && finishOf(nativeFinish) === finish) return nativeFinish;
  switch (finish) {
    case 'length':
      return 'max_tokens';
    case 'tool_calls':
      return 'tool_use';
    case 'content_filter':
      return 'refusal';
    case 'unknown':
      return null;
    case 'stop':
    case 'error':
      // Chat upstreams send "stop" after a forced call, and also after a refusal that is plain text.
      if (traits.calledTools) return 'tool_use';
      if (traits.refused) return 'refusal';
      return stopSequence === undefined ? 'end_turn' : 'stop_sequence';
    default:
      return unreachable(finish);
  }
}
