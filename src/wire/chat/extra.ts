import type { Extra } from '../../canonical/extra.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';

/**
 * The members of a wire object that the canonical model does not name; `undefined` when there is none. A null among
 * them is the same as absent (pains.md 25: never send null for absent).
 */
export function restOf(object: unknown, known: ReadonlySet<string>): JsonObject | undefined {
  if (!isJsonObject(object)) return undefined;
  let rest: Record<string, Json> | undefined;
  for (const member in object) {
    // Assigning `__proto__` would set a prototype instead of a member.
    if (known.has(member) || member === '__proto__') continue;
    const value = object[member];
    if (value === null || value === undefined) continue;
    rest ??= {};
    rest[member] = value;
  }
  return rest;
}

/** `fields` on a node of this format; nothing when there are none, ready to be spread. */
export function asExtra(fields: JsonObject | undefined): { readonly extra?: Extra } {
  return fields === undefined ? {} : { extra: { format: 'chat', fields } };
}

/** A rest with one member more: what was left of an object (or list) that stands as `member` in its parent. */
export function nestRest(
  outer: JsonObject | undefined,
  member: string,
  inner: Json | undefined,
): JsonObject | undefined {
  return inner === undefined ? outer : { ...outer, [member]: inner };
}

/** What a node brought along from this very format. */
export function fieldsOf(node: { readonly extra?: Extra | undefined }): JsonObject | undefined {
  return node.extra?.format === 'chat' ? node.extra.fields : undefined;
}

/** Puts what a node brought along back around what is known of it. Known members win; objects are merged. */
export function withExtra(own: JsonObject, fields: JsonObject | undefined): JsonObject {
  let merged: Record<string, Json | undefined> | undefined;
  for (const member in fields) {
    const known = Object.hasOwn(own, member) ? own[member] : undefined;
    const value = fields[member];
    if (known === undefined) {
      merged ??= { ...own };
      merged[member] = value;
    } else if (isJsonObject(known) && isJsonObject(value)) {
      merged ??= { ...own };
      merged[member] = withExtra(known, value);
    }
  }
  return merged ?? own;
}
