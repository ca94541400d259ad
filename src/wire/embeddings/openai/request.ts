import type { Warning } from '../../../canonical/extra.ts';
import type { JsonObject } from '../../../lib/json.ts';
import type { EmbeddingsPart, EmbeddingsTarget, EncodedPart } from '../format.ts';

/** No member is ever null or empty: hosts read those as words. */
export function encodeRequest({ operation, inputs }: EmbeddingsPart, target: EmbeddingsTarget): EncodedPart {
  const { model, endUserId, encoding, dialect } = target;
  const { dimensions, inputType, extra, directives } = operation;
  const { dimensionsMember = 'dimensions', encodingMember = 'encoding_format', inputTypeMember, inputTypes } = dialect;
  const word = inputType === undefined ? undefined : (inputTypes?.[inputType] ?? (inputTypes ? undefined : inputType));
  const isTyped = word !== undefined && inputTypeMember !== undefined;
  const body: JsonObject = {
    ...dialect.body,
    ...(extra?.format === 'embeddings/openai' && extra.fields),
    model,
    input: inputs.length === 1 && typeof inputs[0] === 'string' ? inputs[0] : inputs,
    // Said in every case: what its absence means differs from host to host.
    [encodingMember]: encoding,
    ...(dimensions !== undefined && { [dimensionsMember]: dimensions }),
    ...(isTyped && { [inputTypeMember]: word }),
    ...(directives.user !== undefined && dialect.withoutUser !== true && { user: endUserId }),
  };
  return { body, warnings: inputType !== undefined && !isTyped ? [droppedInputType(inputType)] : [] };
}

function droppedInputType(word: string): Warning {
  return { code: 'field-dropped', path: 'input_type', message: `${JSON.stringify(word)} has no word at this provider` };
}
