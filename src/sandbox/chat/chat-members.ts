import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { Refusal } from '../refusal.ts';

/** Refuses one member of a chat request the way the format's vendor does. */
export function refuseChat(param: string, message: string, code = 'invalid_value'): Refusal {
  return new Refusal(400, message, { param, code });
}

export function chatTypeRefusal(param: string, expected: string, value: Json | undefined): Refusal {
  const message = `Invalid type for '${param}': expected ${expected}, but got ${describe(value)} instead.`;
  return refuseChat(param, message, 'invalid_type');
}

export function chatObject(value: Json | undefined, param: string): JsonObject {
  if (!isJsonObject(value)) throw chatTypeRefusal(param, 'an object', value);
  return value;
}

export function chatString(value: Json | undefined, param: string): string {
  if (typeof value !== 'string') throw chatTypeRefusal(param, 'a string', value);
  return value;
}

/** An array with at least one item. */
export function chatArray(value: Json | undefined, param: string): readonly Json[] {
  if (!Array.isArray(value)) throw chatTypeRefusal(param, 'an array', value);
  const items: readonly Json[] = value;
  if (items.length === 0)
    throw refuseChat(param, `Invalid '${param}': empty array. Expected an array with minimum length 1.`, 'empty_array');
  return items;
}

/** A number within a range; null and absent are `undefined`. */
export function chatNumber(body: JsonObject, name: string, low: number, high: number): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number') throw chatTypeRefusal(name, 'a number', value);
  if (value < low || value > high)
    throw refuseChat(name, `Invalid '${name}': expected a value between ${low} and ${high}, but got ${value}.`);
  return value;
}

export function chatInteger(body: JsonObject, name: string, low: number, high: number): number | undefined {
  const value = chatNumber(body, name, low, high);
  if (value !== undefined && !Number.isInteger(value)) throw chatTypeRefusal(name, 'an integer', value);
  return value;
}

export function chatBoolean(body: JsonObject, name: string): boolean | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw chatTypeRefusal(name, 'a boolean', value);
  return value;
}

function describe(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
