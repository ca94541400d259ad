import type { Extra } from '../../canonical/extra.ts';
import type { JsonObject } from '../../lib/json.ts';
import { asExtra, fieldsOf, restOf, withExtra } from '../extra.ts';
import type { WireObject } from '../json-fields.ts';

/** Members of a wire object that the canonical model does not name. They stay on the same node. */
export function extraOf(
  object: JsonObject,
  known: ReadonlySet<string>,
  nested?: Readonly<Record<string, ReadonlySet<string>>>,
): { readonly extra?: Extra } {
  return asExtra('messages', restOf(object, known, nested));
}

/** Puts back what `extraOf` took, into the object itself. Members that were written meanwhile stay. */
export function addExtra(object: WireObject, extra: Extra | undefined): WireObject {
  const merged = withExtra(object, fieldsOf({ extra }, 'messages'));
  return merged === object ? object : Object.assign(object, merged);
}
