import { isJsonObject } from '../../lib/json.ts';
import type { Json, JsonObject } from '../../lib/json.ts';

/** A JSON object that is being written. */
export type WireObject = Record<string, Json | undefined>;

export function stringOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The object in a member; an empty one where there is none. */
export function objectAt(object: JsonObject, member: string): JsonObject {
  const value = object[member];
  return isJsonObject(value) ? value : {};
}

/** The objects in a list; none where there is no list. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
