import type { Extra } from '../../../canonical/extra.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { objectsOf } from '../../json-fields.ts';

/**
 * Log probabilities in the shape of the chat format: no other caller's format has any, and they have no place of their own
 * in the canonical response. `undefined` for none; hosts send empty lists with every delta. @spec chat-response-5
 */
export function decodeLogprobs(logprobs: Json | undefined): Extra | undefined {
  const content = objectsOf(logprobs).map(decodeLogprob);
  if (content.length === 0) return undefined;
  return { format: 'chat', fields: { choices: { logprobs: { content } } } };
}

function decodeLogprob(entry: JsonObject): JsonObject {
  return { ...decodeToken(entry), top_logprobs: objectsOf(entry['top_logprobs']).map(decodeToken) };
}

/** Deltas leave the bytes out, which chat demands but lets be null. */
function decodeToken({ token, logprob, bytes }: JsonObject): JsonObject {
  return { token: token ?? '', logprob: logprob ?? 0, bytes: bytes ?? null };
}
