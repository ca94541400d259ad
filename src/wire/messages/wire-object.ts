import type { Extra } from '../../canonical/extra.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { asExtra, fieldsOf, restOf, withExtra } from '../extra.ts';

/** A JSON object that is being written. */
export type WireObject = Record<string, Json | undefined>;

/** A message that is being written. */
export interface WireMessage extends WireObject {
  role: 'user' | 'assistant' | 'system';
  content: string | WireObject[];
}

/** Members of a wire object that nothing here names, to ride on the same node. */
export function extraOf(
  object: JsonObject,
  known: ReadonlySet<string>,
  nested?: Readonly<Record<string, ReadonlySet<string>>>,
): { readonly extra?: Extra } {
  return asExtra('messages', restOf(object, known, nested));
}

/** Puts back what `extraOf` took, into the object itself. What was written meanwhile stays. */
export function addExtra(object: WireObject, extra: Extra | undefined): WireObject {
  const merged = withExtra(object, fieldsOf({ extra }, 'messages'));
  return merged === object ? object : Object.assign(object, merged);
}

export function stringOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Text that vendors refuse in a content block: "text content blocks must contain non-whitespace text". @spec translate-9 */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}
