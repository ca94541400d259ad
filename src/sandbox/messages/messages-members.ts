import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { Refusal } from '../refusal.ts';

/** Refuses a messages request the way the format's vendor does: `messages.0.content: Field required`. */
export function refuseMessages(path: string, message: string): Refusal {
  return new Refusal(400, `${path}: ${message}`);
}

export function fieldObject(value: Json | undefined, path: string): JsonObject {
  if (value === undefined) throw refuseMessages(path, 'Field required');
  if (!isJsonObject(value)) throw refuseMessages(path, 'Input should be a valid dictionary');
  return value;
}

export function fieldString(value: Json | undefined, path: string): string {
  if (value === undefined) throw refuseMessages(path, 'Field required');
  if (typeof value !== 'string') throw refuseMessages(path, 'Input should be a valid string');
  return value;
}

export function fieldArray(value: Json | undefined, path: string): readonly Json[] {
  if (value === undefined) throw refuseMessages(path, 'Field required');
  if (!Array.isArray(value)) throw refuseMessages(path, 'Input should be a valid list');
  return value;
}

export function fieldBoolean(value: Json | undefined, path: string): boolean | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'boolean') throw refuseMessages(path, 'Input should be a valid boolean');
  return value;
}

/** A number within a range; absent is `undefined`. */
export function fieldNumber(value: Json | undefined, path: string, low: number, high: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'number') throw refuseMessages(path, 'Input should be a valid number');
  if (value < low) throw refuseMessages(path, `Input should be greater than or equal to ${low}`);
  if (value > high) throw refuseMessages(path, `Input should be less than or equal to ${high}`);
  return value;
}

export function fieldInteger(value: Json | undefined, path: string, low: number): number | undefined {
  const number = fieldNumber(value, path, low, Number.MAX_SAFE_INTEGER);
  if (number !== undefined && !Number.isInteger(number)) throw refuseMessages(path, 'Input should be a valid integer');
  return number;
}
