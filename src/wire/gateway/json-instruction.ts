import { isJsonObject, type JsonObject } from '../../lib/json.ts';

/** The instruction that requests JSON where the upstream has no option for it. @spec translate-23 */
export const JSON_INSTRUCTION = instructionFor('object');

/** The same for one schema, to which an instruction does not bind the model. @param description of what the response is */
export function schemaInstruction(schema: JsonObject, description: string | undefined): string {
  const reported = description === undefined ? '' : ` (${description})`;
  const requested = isOfObjects(schema) ? JSON_INSTRUCTION : instructionFor('value');
  return `${requested} It must be valid for this JSON Schema${reported}:\n${JSON.stringify(schema)}`;
}

function instructionFor(what: 'object' | 'value'): string {
  return `Answer with one JSON ${what} and nothing else: no prose around it, no code fence.`;
}

/** Of any other schema an object may be what it forbids: a list, or what `$ref` and `anyOf` come to. */
function isOfObjects({ type, properties }: JsonObject): boolean {
  return type === 'object' || (type === undefined && isJsonObject(properties));
}
