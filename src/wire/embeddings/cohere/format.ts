import { ownEntry } from '../../json-fields.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { isContent, type ContentPiece } from '../../../canonical/media/embeddings-input.ts';
import type { Warning } from '../../../canonical/extra.ts';
import { totalCount } from '../../../canonical/usage.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { decodeError } from '../../upstream-error.ts';
import { piecesAt, textAt } from '../content.ts';
import type {
  DecodedPart,
  EmbeddingsFormat,
  EmbeddingsPart,
  EmbeddingsTarget,
  EncodedPart,
  PartUsage,
} from '../format.ts';
import { vectorAt, type Vector } from '../vectors.ts';

/** The vendor requires a purpose. Texts that are kept to be found are the most common. */
const INPUT_TYPE_DEFAULT = 'search_document';
const INPUT_TYPES: Readonly<Record<string, string>> = { query: 'search_query', document: 'search_document' };

/** The second version of the vendor's own form, which other engines speak, too. @source cohere-ai 8.1, `v2.embed` */
export const cohereEmbeddings: EmbeddingsFormat = {
  id: 'embeddings/cohere',
  path: () => '/embed',
  inputsMax: 96,
  encodings: ['float', 'base64'],
  encode,
  decode,
  decodeError,
};

/** @throws GatewayError 400 for tokens, which it does not read */
function encode({ operation, inputs }: EmbeddingsPart, { model, encoding }: EmbeddingsTarget): EncodedPart {
  const { dimensions, inputType, extra } = operation;
  return {
    body: {
      // A text that is too long is an error, and not cut without a word.
      truncate: 'NONE',
      ...(extra?.format === 'embeddings/cohere' && extra.fields),
      model,
      ...encodeInputs(inputs),
      input_type: inputType === undefined ? INPUT_TYPE_DEFAULT : (ownEntry(INPUT_TYPES, inputType) ?? inputType),
      embedding_types: [encoding],
      ...(dimensions !== undefined && { output_dimension: dimensions }),
    },
    warnings: inputType === undefined ? [ASSUMED_TYPE] : [],
  };
}

/** Texts, or content of texts and pictures. */
function encodeInputs(inputs: EmbeddingsPart['inputs']): JsonObject {
  if (!inputs.some(isContent)) return { texts: inputs.map(textAt) };
  return { inputs: inputs.map((input) => ({ content: piecesAt(input).map(encodePiece) })) };
}

function encodePiece(piece: ContentPiece): JsonObject {
  if (piece.type === 'text') return { type: 'text', text: piece.text };
  if (piece.media !== 'image') throw invalid(piece.path, 'is not read at this provider');
  return { type: 'image_url', image_url: { url: piece.url } };
}

const ASSUMED_TYPE: Warning = {
  code: 'field-changed',
  path: 'input_type',
  message: `is required by this provider: "${INPUT_TYPE_DEFAULT}" is sent`,
};

function decode(bytes: Buffer): DecodedPart {
  let vectors: Vector[] | undefined;
  let usage: PartUsage = {};
  let id: unknown;
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'embeddings')
      return eachMember(bytes, at, (type, listAt) => {
        if (type !== 'float' && type !== 'base64') return undefined;
        const read: Vector[] = [];
        const end = eachItem(bytes, listAt, (_item, vectorFrom) => {
          const { vector, end: vectorEnd } = vectorAt(bytes, vectorFrom);
          read.push(vector);
          return vectorEnd;
        });
        vectors = read;
        return end;
      });
    if (name !== 'meta' && name !== 'id') return undefined;
    const end = endOfValue(bytes, at);
    const value = valueAt(bytes, at, end);
    if (name === 'id') id = value;
    else usage = usageOf(value);
    return end;
  });
  if (vectors === undefined) throw new NotThatJson();
  return {
    vectors,
    ...usage,
    ...(typeof id === 'string' && { id }),
  };
}

/** Tokens of pictures are counted beside those of texts. */
function usageOf(meta: unknown): PartUsage {
  const units = isJsonObject(meta) ? meta['billed_units'] : undefined;
  if (!isJsonObject(units)) return {};
  const [textTokens, imageTokens] = [totalCount(units['input_tokens']), totalCount(units['image_tokens'])];
  if (textTokens === undefined && imageTokens === undefined) return {};
  return { promptTokens: (textTokens ?? 0) + (imageTokens ?? 0), ...(imageTokens && { imageTokens }) };
}
