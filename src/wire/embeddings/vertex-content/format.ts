import type { JsonObject } from '../../../lib/json.ts';
import { eachMember, endOfValue, NotThatJson, skipSpaces, valueAt } from '../../../lib/json/walk-bytes.ts';
import { encodePathSegment } from '../../../lib/net/path-segment.ts';
import { decodeError } from '../../upstream-error.ts';
import { piecesAt } from '../content.ts';
import type { DecodedPart, EmbeddingsFormat, EmbeddingsPart, EmbeddingsTarget, EncodedPart } from '../format.ts';
import { encodePieces, usageOf } from '../gemini/format.ts';
import { taskTypeOf } from '../gemini/task-type.ts';
import { vectorAt, type Vector } from '../vectors.ts';

/**
 * Google Cloud's call for models that read more than texts: one content a call.
 * @source Google's own clients, google-genai 1.65 (Java) and 2.32 (JavaScript), `embedContentParametersPrivateToVertex`; BerriAI/litellm,
 *   `docs/blog/gemini_embedding_2_multimodal`; read 2026-11
 */
export const vertexContentEmbeddings: EmbeddingsFormat = {
  id: 'embeddings/vertex-content',
  path: (model) => `/publishers/google/models/${encodePathSegment(model.replace(/^google\//, ''))}:embedContent`,
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
  const config: JsonObject = {
    ...(taskType !== undefined && { taskType }),
    ...(dimensions !== undefined && { outputDimensionality: dimensions }),
  };
  return {
    body: {
      ...(extra?.format === 'embeddings/vertex-content' && extra.fields),
      content: { parts: inputs.flatMap((input) => encodePieces(piecesAt(input))) },
      ...(Object.keys(config).length > 0 && { embedContentConfig: config }),
    },
    warnings: [],
  };
}

function decode(bytes: Buffer): DecodedPart {
  const vectors: Vector[] = [];
  let usage = {};
  eachMember(bytes, skipSpaces(bytes, 0), (name, at) => {
    if (name === 'embedding')
      return eachMember(bytes, at, (member, from) => {
        if (member !== 'values') return undefined;
        const { vector, end } = vectorAt(bytes, from);
        vectors.push(vector);
        return end;
      });
    if (name !== 'usageMetadata') return undefined;
    const end = endOfValue(bytes, at);
    usage = usageOf(valueAt(bytes, at, end));
    return end;
  });
  if (vectors.length === 0) throw new NotThatJson();
  return { vectors, ...usage };
}
