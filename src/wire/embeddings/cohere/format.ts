import { invalid } from '../../../canonical/gateway-error.ts';
import type { Warning } from '../../../canonical/extra.ts';
import { totalCount } from '../../../canonical/usage.ts';
import { isJsonObject } from '../../../lib/json.ts';
import { eachItem, eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { decodeError } from '../../upstream-error.ts';
import type { DecodedPart, EmbeddingsFormat, EmbeddingsPart, EmbeddingsTarget, EncodedPart } from '../format.ts';
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
  if (inputs.some((input) => typeof input !== 'string'))
    throw invalid('input', 'must be text at this provider, not tokens');
  return {
    body: {
      // A text that is too long is an error, and not cut without a word.
      truncate: 'NONE',
      ...(extra?.format === 'embeddings/cohere' && extra.fields),
      model,
      texts: inputs,
      input_type: inputType === undefined ? INPUT_TYPE_DEFAULT : (INPUT_TYPES[inputType] ?? inputType),
      embedding_types: [encoding],
      ...(dimensions !== undefined && { output_dimension: dimensions }),
    },
    warnings: inputType === undefined ? [ASSUMED_TYPE] : [],
  };
}

const ASSUMED_TYPE: Warning = {
  code: 'field-changed',
  path: 'input_type',
  message: `is required by this provider: "${INPUT_TYPE_DEFAULT}" is sent`,
};

function decode(bytes: Buffer): DecodedPart {
  let vectors: Vector[] | undefined;
  let promptTokens: number | undefined;
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
    else promptTokens = countOf(value);
    return end;
  });
  if (vectors === undefined) throw new NotThatJson();
  return {
    vectors,
    ...(promptTokens !== undefined && { promptTokens }),
    ...(typeof id === 'string' && { id }),
  };
}

function countOf(meta: unknown): number | undefined {
  const units = isJsonObject(meta) ? meta['billed_units'] : undefined;
  return isJsonObject(units) ? totalCount(units['input_tokens']) : undefined;
}
