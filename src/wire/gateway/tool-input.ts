import { hasFragileNumbers, isJsonObject, parseJson, parseKeepingNumbers } from '../../lib/json.ts';
import type { Json, JsonObject } from '../../lib/json.ts';

/**
 * The input of a tool call as a JSON value that is only good for writing: numbers stand as the text had them. No text at
 * all is the empty input, because a tool without arguments streams none. `undefined` when the text is not JSON.
 */
export function parseToolInput(text: string): Json | undefined {
  if (text === '') return {};
  const value = parseJson(text);
  return value === undefined || !hasFragileNumbers(text) ? value : parseKeepingNumbers(text);
}

/** The same where the format takes nothing but an object: other text goes below `_raw`. @spec translate-5 */
export function parseToolInputObject(text: string): JsonObject {
  const value = parseToolInput(text);
  return isJsonObject(value) ? value : { _raw: text };
}

/** The arguments of a call as JSON text. Some hosts send them as an object instead. */
export function argumentsOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : isJsonObject(value) ? JSON.stringify(value) : '';
}
