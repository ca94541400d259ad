import { isJsonObject, type JsonObject } from '../lib/json.ts';

/** Reads of members whose kind nobody promised. */
export function objectOf(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** The items of an array; none of anything else. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects in an array. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return itemsOf(value).filter(isJsonObject);
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A `type` or the like, for a message: short, whatever it is. */
export function nameOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 80) : typeof value;
}
