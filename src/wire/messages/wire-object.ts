import type { Extra } from '../../canonical/extra.ts';
import { isJsonObject } from '../../lib/json.ts';
import type { Json, JsonObject } from '../../lib/json.ts';

/** A JSON object that is being written. */
export type WireObject = Record<string, Json | undefined>;

/** A message that is being written. */
export interface WireMessage extends WireObject {
  role: 'user' | 'assistant' | 'system';
  content: string | WireObject[];
}

/**
 * Members of a wire object that nothing here names, to ride on the same node. Members inside a named member (`source`,
 * `cache_control`) ride below that member's name: an extra mirrors the shape that it was taken from.
 */
export function extraOf(
  object: JsonObject,
  known: ReadonlySet<string>,
  nested: Readonly<Record<string, ReadonlySet<string>>> = {},
): { readonly extra?: Extra } {
  let fields: WireObject | undefined;
  // Parsed JSON inherits nothing, and this runs for every node of every prompt.
  for (const member in object) {
    const value = object[member];
    // Assigning it would set a prototype instead of a member.
    if (member === '__proto__') continue;
    if (!known.has(member)) {
      fields ??= {};
      fields[member] = value;
    } else if (nested[member] !== undefined && isJsonObject(value)) {
      const { extra } = extraOf(value, nested[member]);
      if (extra === undefined) continue;
      fields ??= {};
      fields[member] = extra.fields;
    }
  }
  return fields === undefined ? {} : { extra: { format: 'messages', fields } };
}

/** Puts back what `extraOf` took. What was written meanwhile stays, and extras of other formats stay away. */
export function addExtra(object: WireObject, extra: Extra | undefined): WireObject {
  if (extra?.format !== 'messages') return object;
  for (const [member, value] of Object.entries(extra.fields)) {
    const own = object[member];
    if (own === undefined) object[member] = value;
    else if (isJsonObject(own) && isJsonObject(value)) object[member] = { ...value, ...own };
  }
  return object;
}

export function stringOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Text that vendors refuse in a content block: "text content blocks must contain non-whitespace text". pains.md 22 */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}
