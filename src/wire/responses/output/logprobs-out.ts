import type { Extra } from '../../../canonical/extra.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { objectAt, objectsOf } from '../../json-fields.ts';

/** The log probabilities that came with a piece of text, in the shape of a finished part. The canonical shape is that of chat. */
export function logprobsOf(extra: Extra | undefined): readonly JsonObject[] {
  if (extra?.format !== 'chat') return NONE;
  const { choices } = extra.fields;
  if (!isJsonObject(choices)) return NONE;
  return objectsOf(objectAt(choices, 'logprobs')['content']).map((entry) => ({
    ...encodeToken(entry),
    top_logprobs: objectsOf(entry['top_logprobs']).map(encodeToken),
  }));
}

const NONE: readonly JsonObject[] = [];

function encodeToken({ token, logprob, bytes }: JsonObject): JsonObject {
  return { token: token ?? '', bytes: bytes ?? [], logprob: logprob ?? 0 };
}

/** As deltas and done events hold them: without the bytes. */
export function encodeLogprobs(logprobs: readonly Json[]): readonly JsonObject[] {
  return objectsOf(logprobs).map(({ bytes: _bytes, ...entry }) => ({
    ...entry,
    top_logprobs: objectsOf(entry['top_logprobs']).map(({ bytes: _none, ...token }) => token),
  }));
}
