import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/** Deeper than any schema of a tool. Anything deeper counts as valid. */
const DEPTH_MAX = 40;
/**
 * Comparisons of a value with a schema. A schema that refers to itself twice would double them at each level. Beyond this
 * bound everything counts as valid.
 */
const STEPS_MAX = 100_000;

/**
 * Whether a JSON value is valid for a JSON Schema (draft 7), as far as its plain keywords go: keywords that are unknown or
 * make no sense are ignored.
 */
export function fitsSchema(value: Json, schema: JsonObject): boolean {
  return fits(value, schema, { root: schema, stepsLeft: STEPS_MAX }, 0);
}

interface Check {
  readonly root: JsonObject;
  stepsLeft: number;
}

function fits(value: Json, schema: Json | undefined, check: Check, depth: number): boolean {
  if (schema === false) return false;
  if (!isJsonObject(schema) || depth > DEPTH_MAX || check.stepsLeft-- <= 0) return true;
  const reference = schema['$ref'];
  if (typeof reference === 'string') return fits(value, resolve(reference, check.root), check, depth + 1);
  const inner = (part: Json, of: Json | undefined): boolean => fits(part, of, check, depth + 1);
  return (
    fitsType(value, schema['type']) &&
    fitsValue(value, schema) &&
    fitsParts(value, schema, inner) &&
    fitsCombination(value, schema, inner)
  );
}

/** Resolves `#/$defs/address`. A reference that does not resolve is ignored. */
function resolve(reference: string, root: JsonObject): Json | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let found: Json | undefined = root;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

const TYPES: ReadonlyMap<Json | undefined, (value: Json) => boolean> = new Map<string, (value: Json) => boolean>([
  ['object', isJsonObject],
  ['array', Array.isArray],
  ['string', (value) => typeof value === 'string'],
  ['boolean', (value) => typeof value === 'boolean'],
  ['null', (value) => value === null],
  ['number', (value) => typeof value === 'number'],
  ['integer', Number.isInteger],
]);

function fitsType(value: Json, type: Json | undefined): boolean {
  if (Array.isArray(type)) return type.length === 0 || type.some((one: Json) => fitsType(value, one));
  return TYPES.get(type)?.(value) ?? true;
}

function fitsValue(value: Json, schema: JsonObject): boolean {
  const { enum: values, const: only, minimum, maximum, minLength, maxLength } = schema;
  if (Array.isArray(values) && !values.some((one: Json) => isSame(one, value))) return false;
  if (only !== undefined && !isSame(only, value)) return false;
  if (typeof value === 'number')
    return !(typeof minimum === 'number' && value < minimum) && !(typeof maximum === 'number' && value > maximum);
  if (typeof value !== 'string') return true;
  const { length } = value;
  return (
    !(typeof minLength === 'number' && length < minLength) && !(typeof maxLength === 'number' && length > maxLength)
  );
}

function isSame(left: Json, right: Json): boolean {
  return left === right || (typeof left === 'object' && JSON.stringify(left) === JSON.stringify(right));
}

type Nested = (part: Json, schema: Json | undefined) => boolean;

function fitsParts(value: Json, schema: JsonObject, inner: Nested): boolean {
  if (Array.isArray(value)) {
    const { items, minItems, maxItems } = schema;
    if (typeof minItems === 'number' && value.length < minItems) return false;
    if (typeof maxItems === 'number' && value.length > maxItems) return false;
    return !isJsonObject(items) || value.every((item: Json) => inner(item, items));
  }
  if (!isJsonObject(value)) return true;
  const { properties, required, additionalProperties } = schema;
  const known: JsonObject = isJsonObject(properties) ? properties : {};
  if (Array.isArray(required) && required.some((name: Json) => typeof name === 'string' && !Object.hasOwn(value, name)))
    return false;
  const isOpen = isJsonObject(schema['patternProperties']);
  return Object.entries(value).every(([name, member = null]) => {
    if (Object.hasOwn(known, name)) return inner(member, known[name]);
    return isOpen || inner(member, additionalProperties);
  });
}

function fitsCombination(value: Json, { allOf, anyOf, oneOf, not }: JsonObject, inner: Nested): boolean {
  if (Array.isArray(allOf) && !allOf.every((one: Json) => inner(value, one))) return false;
  if (Array.isArray(anyOf) && anyOf.length > 0 && !anyOf.some((one: Json) => inner(value, one))) return false;
  if (Array.isArray(oneOf) && oneOf.length > 0 && oneOf.filter((one: Json) => inner(value, one)).length !== 1)
    return false;
  return !isJsonObject(not) || !inner(value, not);
}
