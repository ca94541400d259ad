import { totalCount } from '../../../canonical/usage.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { decodeError } from '../../upstream-error.ts';
import { textAt } from '../content.ts';
import type { DecodedPart, EmbeddingsFormat, EmbeddingsPart, EmbeddingsTarget, EncodedPart } from '../format.ts';
import { taskTypeOf } from '../gemini/task-type.ts';
import { vectorAt, type Vector } from '../vectors.ts';

/** Google Cloud's call for predictions. @source cloud.google.com "Text embeddings API", read 2026-11 */
export const vertexEmbeddings: EmbeddingsFormat = {
  id: 'embeddings/vertex',
  path: (model) => `/publishers/google/models/${encodePathSegment(model.replace(/^google\//, ''))}:predict`,
  inputsMax: 1,
  encodings: ['float'],
  encode,
  decode,
  decodeError,
};

/** @throws GatewayError 400 for tokens, which it does not read */
function encode({ operation, inputs }: EmbeddingsPart, _target: EmbeddingsTarget): EncodedPart {
  const { dimensions, inputType, extra } = operation;
  const taskType = taskTypeOf(inputType);
  const instances = inputs.map((input): JsonObject => ({
    content: textAt(input),
    ...(taskType !== undefined && { task_type: taskType }),
  }));
  return {
    body: {
      ...(extra?.format === 'embeddings/vertex' && extra.fields),
      instances,
      // A text that is too long is an error, and not cut without a word.
      parameters: { autoTruncate: false, ...(dimensions !== undefined && { outputDimensionality: dimensions }) },
    },
    warnings: [],
  };
}

function decode(bytes: Buffer): DecodedPart {
  const vectors: Vector[] = [];
  const counts: (number | undefined)[] = [];
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) =>
    name === 'predictions'
      ? eachItem(bytes, at, (_item, from) =>
          eachMember(bytes, from, (member, value) =>
            member === 'embeddings' ? embeddingAt(bytes, value, vectors, counts) : undefined,
          ),
        )
      : undefined,
  );
  if (vectors.length === 0) throw new NotThatJson();
  const known = counts.filter((count) => count !== undefined);
  const isCounted = known.length === vectors.length;
  return { vectors, ...(isCounted && { promptTokens: known.reduce((sum, count) => sum + count, 0) }) };
}

function embeddingAt(bytes: Buffer, at: number, vectors: Vector[], counts: (number | undefined)[]): number {
  return eachMember(bytes, at, (member, value) => {
    if (member === 'values') {
      const { vector, end } = vectorAt(bytes, value);
      vectors.push(vector);
      return end;
    }
    if (member !== 'statistics') return undefined;
    const end = endOfValue(bytes, value);
    const statistics = valueAt(bytes, value, end);
    counts.push(isJsonObject(statistics) ? totalCount(statistics['token_count']) : undefined);
    return end;
  });
}
