import { isRecord } from '../../api/errors.ts';

const EMPTY: Readonly<Record<string, unknown>> = {
  string: '',
  number: 0,
  integer: 0,
  boolean: false,
  array: [],
  object: {},
};

/** An object with the required members of a schema, to be filled in. */
export function exampleOf(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name))
      .map(([name, member]) => [name, valueOf(isRecord(member) ? member : {})]),
  );
}

function valueOf({ type, default: initial, enum: choices }: Readonly<Record<string, unknown>>): unknown {
  if (initial !== undefined) return initial;
  if (Array.isArray(choices)) return choices[0];
  return typeof type === 'string' ? (EMPTY[type] ?? null) : null;
}
