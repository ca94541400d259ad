import type { Extra } from '../../canonical/extra.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { objectsOf } from '../members.ts';

/**
 * Log probabilities as the chat format tells them: no other caller's format has any, and they have no place of their own
 * in the canonical answer. `undefined` for none; hosts send empty lists with every delta. @source generation.md 6.1
 */
export function readLogprobs(logprobs: Json | undefined): Extra | undefined {
  const content = objectsOf(logprobs).map(readLogprob);
  if (content.length === 0) return undefined;
  return { format: 'chat', fields: { choices: { logprobs: { content } } } };
}

function readLogprob(entry: JsonObject): JsonObject {
  return { ...readToken(entry), top_logprobs: objectsOf(entry['top_logprobs']).map(readToken) };
}

/** Deltas leave the bytes out, which chat demands but lets be null. */
function readToken({ token, logprob, bytes }: JsonObject): JsonObject {
  return { token: token ?? '', logprob: logprob ?? 0, bytes: bytes ?? null };
}
