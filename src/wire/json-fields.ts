import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';

/** A JSON object that is being written. */
export type WireObject = Record<string, Json | undefined>;

/** Leaves unset members out: absent is never null (@spec chat-43). */
export function withoutAbsent(members: WireObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** The value where it is an object; no upstream is trusted to send the kind that its documentation promises. */
export function objectOf(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** The object in a member; an empty one where there is none. */
export function objectAt(object: JsonObject, member: string): JsonObject {
  const value = object[member];
  return isJsonObject(value) ? value : {};
}

/** The items of an array; none of anything else. */
export function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const NO_OBJECTS: readonly JsonObject[] = [];

/** The objects in an array; none of anything else, as most messages have them. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : NO_OBJECTS;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A `type` or the like, for a message: short, whatever it is. */
export function nameOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 80) : typeof value;
}

/** What a table has of its own under a name that a caller has chosen: `constructor` is none. */
export function ownEntry<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
