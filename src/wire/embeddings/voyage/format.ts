import { invalid } from '../../../canonical/gateway-error.ts';
import type { ContentPiece } from '../../../canonical/media/embeddings-input.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { decodeError } from '../../upstream-error.ts';
import { piecesAt } from '../content.ts';
import { purposeOf } from '../dialect.ts';
import type { EmbeddingsFormat, EmbeddingsPart, EmbeddingsTarget, EncodedPart } from '../format.ts';
import { decodeAnswer } from '../openai/answer.ts';

/**
 * Pictures and clips beside texts. Its answers are those of its texts.
 * @source voyage-ai/typescript-sdk, `MultimodalEmbedRequest`; docs.voyageai.com "Multimodal Embeddings"; read 2026-11
 */
export const voyageEmbeddings: EmbeddingsFormat = {
  id: 'embeddings/voyage',
  path: () => '/multimodalembeddings',
  inputsMax: 128,
  encodings: ['float'],
  encode,
  decode: decodeAnswer,
  decodeError,
};

/** @throws GatewayError 400 for tokens, sounds and documents, which it does not read */
function encode({ operation, inputs }: EmbeddingsPart, { model, dialect }: EmbeddingsTarget): EncodedPart {
  const { dimensions, extra } = operation;
  const { members, warnings } = purposeOf(operation, dialect);
  return {
    body: {
      // What is too long is an error, and not cut without a word.
      truncation: false,
      ...(extra?.format === 'embeddings/voyage' && extra.fields),
      model,
      inputs: inputs.map((input) => ({ content: piecesAt(input).map(encodePiece) })),
      ...(dimensions !== undefined && { output_dimension: dimensions }),
      ...members,
    },
    warnings,
  };
}

function encodePiece(piece: ContentPiece): JsonObject {
  if (piece.type === 'text') return { type: 'text', text: piece.text };
  const { media, url, path } = piece;
  if (media !== 'image' && media !== 'video') throw invalid(path, 'is not read at this provider');
  return { type: `${media}_base64`, [`${media}_base64`]: url };
}
