import { totalCount } from '../../../canonical/usage.ts';
import type { ContentPiece } from '../../../canonical/media/embeddings-input.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { decodeError } from '../../upstream-error.ts';
import { dataAt, piecesAt } from '../content.ts';
import type {
  DecodedPart,
  EmbeddingsFormat,
  EmbeddingsPart,
  EmbeddingsTarget,
  EncodedPart,
  PartUsage,
} from '../format.ts';
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
  const requests = inputs.map((input): JsonObject => ({
    model: `models/${model}`,
    content: { parts: encodePieces(piecesAt(input)) },
    ...(taskType !== undefined && { taskType }),
    ...(dimensions !== undefined && { outputDimensionality: dimensions }),
  }));
  return { body: { ...(extra?.format === 'embeddings/gemini' && extra.fields), requests }, warnings: [] };
}

export function encodePieces(pieces: readonly ContentPiece[]): JsonObject[] {
  return pieces.map((piece) => {
    if (piece.type === 'text') return { text: piece.text };
    const { mediaType, data } = dataAt(piece);
    return { inlineData: { mimeType: mediaType, data } };
  });
}

function decode(bytes: Buffer): DecodedPart {
  const vectors: Vector[] = [];
  let isRead = false;
  let usage: PartUsage = {};
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
    usage = usageOf(valueAt(bytes, at, end));
    return end;
  });
  if (!isRead) throw new NotThatJson();
  return { vectors, ...usage };
}

/** @source @google/genai 2.32, `UsageMetadata` */
export function usageOf(usage: unknown): PartUsage {
  if (!isJsonObject(usage)) return {};
  const promptTokens = totalCount(usage['promptTokenCount']);
  // Batches have the one name, Vertex the other.
  const found = usage['promptTokenDetails'] ?? usage['promptTokensDetails'];
  const details: readonly unknown[] = Array.isArray(found) ? found : [];
  const of = (modality: string): number | undefined =>
    details.reduce<number | undefined>((sum, detail) => {
      const count =
        isJsonObject(detail) && detail['modality'] === modality ? totalCount(detail['tokenCount']) : undefined;
      return count === undefined ? sum : (sum ?? 0) + count;
    }, undefined);
  const [imageTokens, audioTokens] = [of('IMAGE'), of('AUDIO')];
  return {
    ...(promptTokens !== undefined && { promptTokens }),
    ...(imageTokens !== undefined && { imageTokens }),
    ...(audioTokens !== undefined && { audioTokens }),
  };
}
