import type { EmbeddingsInput } from '../../../canonical/media/embeddings-input.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { AnswerIdentity, FinalUsage } from '../../format.ts';
import { encodeCost } from '../../gateway/cost.ts';
import type { Vector } from '../vectors.ts';

/** As Cohere's clients read it: vectors below their encoding, in the order of the texts. They are not copied. */
export function encodeCohereAnswer(
  vectors: readonly Vector[],
  inputs: readonly EmbeddingsInput[],
  { id, model, provider }: AnswerIdentity,
  finalUsage: FinalUsage,
): readonly Uint8Array[] {
  const encoding = vectors[0]?.encoding ?? 'float';
  const pieces: Uint8Array[] = [Buffer.from(`{"id":${JSON.stringify(id)},"embeddings":{"${encoding}":`)];
  let before = '[';
  for (const { bytes } of vectors) {
    pieces.push(Buffer.from(before), bytes);
    before = ',';
  }
  const { usage, serviceMetadata } = finalUsage;
  const tail: JsonObject = {
    texts: inputs.filter((input) => typeof input === 'string'),
    meta: { api_version: { version: '2' }, billed_units: { input_tokens: usage.promptTokens } },
    response_type: 'embeddings_by_type',
    model,
    provider,
    usage: { prompt_tokens: usage.promptTokens, total_tokens: usage.promptTokens, ...encodeCost(finalUsage) },
    ...(serviceMetadata !== undefined && { service_metadata: serviceMetadata }),
  };
  pieces.push(Buffer.from(`]},${JSON.stringify(tail).slice(1)}`));
  return pieces;
}
