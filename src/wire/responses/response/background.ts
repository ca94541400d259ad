import type { Json, JsonObject } from '../../../lib/json.ts';
import type { GatewayError } from '../../../canonical/gateway-error.ts';
import type { ResponseIdentity } from '../../format.ts';
import { encodeEvent } from '../output/event-frames.ts';
import { encodeFailure, failureOf } from './error-out.ts';
import { encodeResponse } from './response-out.ts';

/** What a background response begins with, before it runs. */
export interface QueuedResponse {
  /** As its caller gets it. */
  readonly response: JsonObject;
  /** The first events of its stream. */
  readonly frames: string;
  readonly lastNumber: number;
}

export function encodeQueued(identity: ResponseIdentity, echo: 'full' | 'terminal' | 'none'): QueuedResponse {
  const queued = (showsPrompt: boolean): JsonObject => ({
    ...encodeResponse({ identity, output: [], showsPrompt }),
    status: 'queued',
  });
  const members = { response: queued(echo === 'full') };
  return {
    response: queued(echo !== 'none'),
    frames: encodeEvent('created', 0, members) + encodeEvent('queued', 1, members),
    lastNumber: 1,
  };
}

/** The last event. A cancelled response has none of its own: clients would take any other for a normal end. */
export function encodeTerminal(number: number, { output_text: _text, ...response }: JsonObject): string {
  const { status } = response;
  const type = status === 'completed' || status === 'incomplete' ? status : 'failed';
  return encodeEvent(type, number, { response });
}

/** The response with an error as its end, with the output so far. */
export function asFailed(begun: JsonObject, output: readonly JsonObject[], error: GatewayError): JsonObject {
  const failure = failureOf(error);
  return {
    ...ended(begun, output),
    status: 'failed',
    error: encodeFailure(failure),
    error_type: failure.type,
  };
}

/** A cancelled response, with the output so far. */
export function asCancelled(begun: JsonObject, output: readonly JsonObject[]): JsonObject {
  const { error_type: _type, ...others } = ended(begun, output);
  return { ...others, status: 'cancelled', error: null };
}

function ended(begun: JsonObject, output: readonly JsonObject[]): Readonly<Record<string, Json | undefined>> {
  return { ...begun, completed_at: null, incomplete_details: null, output, store: true };
}
