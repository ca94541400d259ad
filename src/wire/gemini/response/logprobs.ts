import type { Extra } from '../../../canonical/extra.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { itemsOf, objectOf, objectsOf } from '../../json-fields.ts';

/**
 * Log probabilities as passthrough fields of the chat format, the only one that shows them to callers.
 * @source the vendor's reference of `LogprobsResult`, read 2026-11; @spec chat-response-5
 */
export function chatLogprobs(result: Json | undefined): Extra | undefined {
  if (!isJsonObject(result)) return undefined;
  const tops = itemsOf(result['topCandidates']);
  const content = itemsOf(result['chosenCandidates']).flatMap((chosen, at): readonly JsonObject[] => {
    const entry = decodeCandidate(objectOf(chosen));
    if (entry === undefined) return [];
    const others: readonly JsonObject[] = objectsOf(objectOf(tops[at])?.['candidates']);
    return [{ ...entry, top_logprobs: others.map(decodeCandidate).filter((other) => other !== undefined) }];
  });
  return content.length === 0 ? undefined : { format: 'chat', fields: { choices: { logprobs: { content } } } };
}

function decodeCandidate(candidate: JsonObject | undefined): JsonObject | undefined {
  const { token, logProbability: logprob } = candidate ?? {};
  if (typeof token !== 'string' || typeof logprob !== 'number') return undefined;
  return { token, logprob, bytes: [...Buffer.from(token, 'utf8')] };
}
