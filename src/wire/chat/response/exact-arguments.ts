import { hasFragileNumbers, isJsonObject, parseKeepingNumbers, type JsonObject } from '../../../lib/json.ts';
import { firstChoice, toolCallsOf } from './chunk.ts';
import { objectOf } from '../../json-fields.ts';

/**
 * The chunk again with numbers as they were written, where an upstream sends the arguments of calls as objects: they
 * become text, which must not turn `1.0` into `1`.
 */
export function keepArguments(chunk: JsonObject, text: string): JsonObject {
  const choice = firstChoice(chunk['choices']);
  const delta = choice?.['delta'] ?? choice?.['message'];
  if (!isJsonObject(delta) || !toolCallsOf(delta).some(hasObjectArguments) || !hasFragileNumbers(text)) return chunk;
  return objectOf(parseKeepingNumbers(text)) ?? chunk;
}

function hasObjectArguments(call: unknown): boolean {
  return isJsonObject(objectOf(objectOf(call)?.['function'])?.['arguments']);
}
