import { ownEntry } from '../../json-fields.ts';
import type { Warning } from '../../../canonical/extra.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { totalCount } from '../../../canonical/usage.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { decodeError } from '../../upstream-error.ts';
import { textAt } from '../content.ts';
import type { DecodedPart, EmbeddingsFormat, EmbeddingsPart, EmbeddingsTarget, EncodedPart } from '../format.ts';
import { vectorAt, type Vector } from '../vectors.ts';

/**
 * Models at Amazon's one address, each maker with a body of its own.
 * @source docs.aws.amazon.com "Amazon Titan Embeddings G1 - Text", "Cohere Embed", Amazon Nova "Complete embeddings request
 *   and response schema", read 2026-11
 */
export const bedrockEmbeddings: EmbeddingsFormat = {
  id: 'embeddings/bedrock',
  path: (model) => `/model/${encodePathSegment(model)}/invoke`,
  inputsMax: 1,
  encodings: ['float'],
  encode,
  decode,
  decodeError,
};

const TITAN_1 = /titan-embed-(?:text-v1|g1)/;
const INPUT_TYPE_DEFAULT = 'search_document';
const COHERE_TYPES: Readonly<Record<string, string>> = { query: 'search_query', document: 'search_document' };
const PURPOSE_DEFAULT = 'GENERIC_INDEX';
const NOVA_PURPOSES: Readonly<Record<string, string>> = {
  search_query: 'GENERIC_RETRIEVAL',
  query: 'GENERIC_RETRIEVAL',
  search_document: 'GENERIC_INDEX',
  document: 'GENERIC_INDEX',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
};

/** @throws GatewayError 400 for tokens, which it does not read, and for a length that the model has not */
function encode({ operation, inputs }: EmbeddingsPart, { model }: EmbeddingsTarget): EncodedPart {
  const texts = inputs.map(textAt);
  const { dimensions, inputType, extra } = operation;
  const own = extra?.format === 'embeddings/bedrock' ? extra.fields : {};
  if (model.includes('cohere.')) {
    return {
      body: {
        truncate: 'NONE',
        ...own,
        texts,
        input_type: inputType === undefined ? INPUT_TYPE_DEFAULT : (ownEntry(COHERE_TYPES, inputType) ?? inputType),
        ...(dimensions !== undefined && { output_dimension: dimensions }),
      },
      warnings: inputType === undefined ? [ASSUMED_TYPE] : [],
    };
  }
  const [text = ''] = texts;
  if (model.includes('nova')) return { body: novaBody(text, operation), warnings: [] };
  if (dimensions !== undefined && TITAN_1.test(model)) throw invalid('dimensions', 'cannot be chosen at this model');
  return {
    body: { ...own, inputText: text, ...(dimensions !== undefined && { dimensions }) },
    warnings: inputType === undefined ? [] : [NO_TYPE],
  };
}

function novaBody(value: string, { dimensions, inputType }: EmbeddingsPart['operation']): JsonObject {
  return {
    taskType: 'SINGLE_EMBEDDING',
    singleEmbeddingParams: {
      embeddingPurpose: inputType === undefined ? PURPOSE_DEFAULT : (ownEntry(NOVA_PURPOSES, inputType) ?? inputType),
      ...(dimensions !== undefined && { embeddingDimension: dimensions }),
      text: { truncationMode: 'NONE', value },
    },
  };
}

const ASSUMED_TYPE: Warning = {
  code: 'field-changed',
  path: 'input_type',
  message: `is required by this model: "${INPUT_TYPE_DEFAULT}" is sent`,
};
const NO_TYPE: Warning = { code: 'field-dropped', path: 'input_type', message: 'has no word at this model' };

const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/** One vector; a list of them; a list below its type; or a list of objects that each hold one. */
function decode(bytes: Buffer): DecodedPart {
  const vectors: Vector[] = [];
  let promptTokens: number | undefined;
  const take = (at: number): number => {
    const { vector, end } = vectorAt(bytes, at);
    vectors.push(vector);
    return end;
  };
  const takeOf = (at: number): number =>
    bytes[at] === OPEN_OBJECT
      ? eachMember(bytes, at, (member, value) => (member === 'embedding' ? take(value) : undefined))
      : take(at);
  const takeList = (at: number): number => eachItem(bytes, at, (_item, from) => takeOf(from));
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'embedding' && bytes[at] === OPEN_LIST) return take(at);
    if (name === 'embeddings' && bytes[at] === OPEN_LIST) return takeList(at);
    if (name === 'embeddings')
      return eachMember(bytes, at, (type, listAt) => (type === 'float' ? takeList(listAt) : undefined));
    if (name !== 'inputTextTokenCount' && name !== 'inputTokenCount') return undefined;
    const end = endOfValue(bytes, at);
    promptTokens = totalCount(valueAt(bytes, at, end));
    return end;
  });
  if (vectors.length === 0) throw new NotThatJson();
  return { vectors, ...(promptTokens !== undefined && { promptTokens }) };
}
