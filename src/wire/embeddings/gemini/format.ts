import { totalCount } from '../../../canonical/usage.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { decodeError } from '../../upstream-error.ts';
import type { DecodedPart, EmbeddingsFormat, EmbeddingsPart, EmbeddingsTarget, EncodedPart } from '../format.ts';
import { vectorAt, type Vector } from '../vectors.ts';
import { taskTypeOf } from './task-type.ts';

/** One request an input, in one call. Its vectors are numbers, and it counts no tokens. */
export const geminiEmbeddings: EmbeddingsFormat = {
  id: 'embeddings/gemini',
  path: (model) => `/models/${model}:batchEmbedContents`,
  inputsMax: 100,
  encodings: ['float'],
  encode,
  decode,
  decodeError,
};

/** @throws GatewayError 400 for tokens, which it does not read */
function encode({ operation, inputs }: EmbeddingsPart, { model }: EmbeddingsTarget): EncodedPart {
  const { dimensions, inputType, extra } = operation;
  const taskType = taskTypeOf(inputType);
  const requests = inputs.map((input): JsonObject => {
    if (typeof input !== 'string') throw invalid('input', 'must be text at this provider, not tokens');
    return {
      model: `models/${model}`,
      content: { parts: [{ text: input }] },
      ...(taskType !== undefined && { taskType }),
      ...(dimensions !== undefined && { outputDimensionality: dimensions }),
    };
  });
  return { body: { ...(extra?.format === 'embeddings/gemini' && extra.fields), requests }, warnings: [] };
}

function decode(bytes: Buffer): DecodedPart {
  const vectors: Vector[] = [];
  let isRead = false;
  let promptTokens: number | undefined;
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'embeddings') {
      isRead = true;
      return eachItem(bytes, at, (_item, itemAt) =>
        eachMember(bytes, itemAt, (member, valueAtIndex) => {
          if (member !== 'values') return undefined;
          const { vector, end } = vectorAt(bytes, valueAtIndex);
          vectors.push(vector);
          return end;
        }),
      );
    }
    if (name !== 'usageMetadata') return undefined;
    const end = endOfValue(bytes, at);
    const usage = valueAt(bytes, at, end);
    promptTokens = isJsonObject(usage) ? totalCount(usage['promptTokenCount']) : undefined;
    return end;
  });
  if (!isRead) throw new NotThatJson();
  return { vectors, ...(promptTokens !== undefined && { promptTokens }) };
}
