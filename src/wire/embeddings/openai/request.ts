import { invalid } from '../../../canonical/gateway-error.ts';
import {
  isContent,
  mediaOfInputs,
  type ContentPiece,
  type EmbeddingsInput,
} from '../../../canonical/media/embeddings-input.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { dataAt, piecesAt, textAt } from '../content.ts';
import { purposeOf, type EmbeddingsDialect } from '../dialect.ts';
import type { EmbeddingsPart, EmbeddingsTarget, EncodedPart } from '../format.ts';

/** No member is ever null or empty: hosts read those as words. @throws GatewayError 400 for content that the host does not take */
export function encodeRequest({ operation, inputs }: EmbeddingsPart, target: EmbeddingsTarget): EncodedPart {
  const { model, endUserId, encoding, dialect } = target;
  const { dimensions, extra, directives } = operation;
  const { dimensionsMember = 'dimensions', encodingMember = 'encoding_format' } = dialect;
  const { members, warnings } = purposeOf(operation, dialect);
  const hasContent = inputs.some(isContent);
  const items = inputs.map((input) => encodeInput(input, dialect, hasContent));
  const body: JsonObject = {
    ...dialect.body,
    ...(extra?.format === 'embeddings/openai' && extra.fields),
    model,
    input: inputs.length === 1 && typeof items[0] === 'string' ? items[0] : items,
    // Said in every case: what its absence means differs from host to host.
    [encodingMember]: encoding,
    ...(dimensions !== undefined && { [dimensionsMember]: dimensions }),
    ...members,
    ...(directives.user !== undefined && dialect.withoutUser !== true && { user: endUserId }),
  };
  return { body, warnings };
}

/** @param hasContent of any of the inputs: items of one request are of one kind */
function encodeInput(input: EmbeddingsInput, { content }: EmbeddingsDialect, hasContent: boolean): Json {
  if (Array.isArray(input)) return [...input];
  if (!hasContent && typeof input === 'string') return input;
  const pieces = piecesAt(input);
  if (content === 'parts') return { content: pieces.map(encodePiece) };
  if (content !== 'single') return textAt(input);
  const [piece, second] = pieces;
  if (piece === undefined || second !== undefined)
    throw invalid(mediaOfInputs([input])[0]?.path ?? 'input', 'must stand alone at this provider: one part an input');
  if (piece.type === 'text') return { text: piece.text };
  if (piece.media !== 'image') throw invalid(piece.path, 'is not read at this provider');
  return { image: dataAt(piece).data };
}

function encodePiece(piece: ContentPiece): JsonObject {
  if (piece.type === 'text') return { type: 'text', text: piece.text };
  const { media, url } = piece;
  if (media === 'image') return { type: 'image_url', image_url: { url } };
  const { mediaType, data } = dataAt(piece);
  const name = media === 'document' ? 'input_file' : (`input_${media}` as const);
  return { type: name, [name]: { data, format: mediaType.replace(/^.*\//, '') } };
}
