import { invalid } from '../../../canonical/gateway-error.ts';
import { formatPath } from './check-shape.ts';
import { parseJson, type Json, type JsonObject } from '../../../lib/json.ts';

/** What the text of a field stands for. `texts` is a list, which may also be written as one JSON array. */
export type FormFieldType = 'text' | 'number' | 'boolean' | 'json' | 'texts';

export type FormFieldTypes = Readonly<Record<string, FormFieldType>>;

const NUMBER = /^-?\d{1,30}(?:\.\d{1,30})?(?:e[+-]?\d{1,3})?$/i;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false, '1': true, '0': false };

/**
 * The JSON body that says the same as the fields of a form. An empty field counts as absent, and the last of several counts
 * where there is to be one. Fields without a type stay text.
 * @throws GatewayError 400 at the name of a field whose text is no such value
 */
export function decodeFormFields(fields: ReadonlyMap<string, readonly string[]>, types: FormFieldTypes): JsonObject {
  const members: [string, Json][] = [];
  for (const [name, values] of fields) {
    const value = decodeField(
      name,
      values.filter((text) => text !== ''),
      Object.hasOwn(types, name) ? types[name] : undefined,
    );
    if (value !== undefined) members.push([name, value]);
  }
  return Object.fromEntries(members);
}

function decodeField(name: string, values: readonly string[], type: FormFieldType | undefined): Json | undefined {
  const last = values.at(-1);
  if (last === undefined) return undefined;
  if (type === undefined) return values.length === 1 ? last : [...values];
  switch (type) {
    case 'texts':
      return values.length === 1 ? (parseList(last) ?? [last]) : [...values];
    case 'number':
      if (!NUMBER.test(last)) throw invalid(formatPath([name]), 'must be a number');
      return Number(last);
    case 'boolean': {
      const value = Object.hasOwn(BOOLEANS, last) ? BOOLEANS[last] : undefined;
      if (value === undefined) throw invalid(formatPath([name]), 'must be true or false');
      return value;
    }
    case 'json':
      return parseField(name, last);
    case 'text':
    default:
      return last;
  }
}

function parseField(name: string, text: string): Json {
  const value = parseJson(text);
  if (value === undefined) throw invalid(formatPath([name]), 'must be JSON');
  return value;
}

/** `["word","segment"]`; anything else is one item. */
function parseList(text: string): readonly Json[] | undefined {
  if (!text.startsWith('[')) return undefined;
  const list = parseJson(text);
  return Array.isArray(list) ? list : undefined;
}
