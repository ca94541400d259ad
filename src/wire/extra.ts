import type { AnyFormatId, Extra, FormatId } from '../canonical/extra.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';

/**
 * The members of a wire object that the canonical model does not name; `undefined` when there is none. A null among
 * them is the same as absent (@spec chat-43: never send null for absent), and hosts put nulls on every chunk.
 * @param nested known members inside known members: the rest of such a member keeps its name, so that a rest mirrors the
 *   shape that it was taken from
 */
export function restOf(
  object: unknown,
  known: ReadonlySet<string>,
  nested?: Readonly<Record<string, ReadonlySet<string>>>,
): JsonObject | undefined {
  if (!isJsonObject(object)) return undefined;
  let rest: Record<string, Json> | undefined;
  // Parsed JSON inherits nothing enumerable, and this runs for every node of every prompt.
  for (const member in object) {
    // Assigning `__proto__` would set a prototype instead of a member.
    if (member === '__proto__') continue;
    const named = known.has(member);
    const inner = named ? nested?.[member] : undefined;
    if (named && inner === undefined) continue;
    const value = inner === undefined ? object[member] : restOf(object[member], inner);
    if (value === null || value === undefined) continue;
    rest ??= {};
    rest[member] = value;
  }
  return rest;
}

/** A rest with one member more: the rest of an object (or list) that is `member` of its parent. */
export function nestRest(
  outer: JsonObject | undefined,
  member: string,
  inner: Json | undefined,
): JsonObject | undefined {
  return inner === undefined ? outer : { ...outer, [member]: inner };
}

/** `fields` on a node of a format; nothing when there are none, ready to be spread. */
export function asExtra(format: AnyFormatId, fields: JsonObject | undefined): { readonly extra?: Extra } {
  return fields === undefined ? NOTHING : { extra: { format, fields } };
}

/** Most nodes of every request and response have no extra fields. */
const NOTHING: { readonly extra?: Extra } = {};

/** The passthrough fields of a node, where they are of this very format. */
export function fieldsOf(node: { readonly extra?: Extra | undefined }, format: FormatId): JsonObject | undefined {
  return node.extra?.format === format ? node.extra.fields : undefined;
}

/** Adds the passthrough fields of a node to its known members. Known members win; objects are merged. */
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
