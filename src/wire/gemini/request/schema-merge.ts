import { ExactNumber, isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';

/** References within one schema may be nested so far; beyond, they lead nowhere. */
const REFERENCE_STEPS_MAX = 100;

/** What a reference into the same document points at; `undefined` for any other, and for one that leads nowhere. */
export function resolveReference(root: JsonObject, reference: string): JsonObject | undefined {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let value: Json | undefined = root;
  for (const step of reference.slice(2).split('/', REFERENCE_STEPS_MAX)) {
    const name = decodeStep(step);
    if (Array.isArray(value)) value = value[Number(name)];
    else if (isJsonObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return isJsonObject(value) ? value : undefined;
}

/** RFC 6901 in a URI fragment. */
function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}

/**
 * A schema that demands what both demand, as far as keywords can be joined: properties and required names add up, bounds
 * become the narrower ones, lists of values their intersection; of anything else the second one's stands.
 */
export function mergeSchemas(first: JsonObject, second: JsonObject): JsonObject {
  const merged: Record<string, Json | undefined> = { ...first };
  for (const keyword in second) {
    if (keyword === '__proto__') continue;
    const before = Object.hasOwn(merged, keyword) ? merged[keyword] : undefined;
    const value = second[keyword];
    if (value !== undefined) merged[keyword] = before === undefined ? value : mergeKeyword(keyword, before, value);
  }
  return merged;
}

function mergeKeyword(keyword: string, before: Json, value: Json): Json {
  switch (keyword) {
    case 'properties':
    case '$defs':
    case 'definitions':
      return isJsonObject(before) && isJsonObject(value) ? { ...before, ...value } : value;
    case 'required':
    case 'allOf':
      return Array.isArray(before) && Array.isArray(value) ? [...new Set<Json>([...before, ...value])] : value;
    case 'enum':
      return Array.isArray(before) && Array.isArray(value) ? intersect(before, value) : value;
    case 'minimum':
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return numberOf(before) > numberOf(value) ? before : value;
    case 'maximum':
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return numberOf(before) < numberOf(value) ? before : value;
    // A keyword of the outer schema wins over one of the schema that it refers to.
    case 'description':
    case 'title':
      return before;
    default:
      return value;
  }
}

function intersect(before: readonly Json[], value: readonly Json[]): Json {
  const known = new Set(value);
  const both = before.filter((item) => known.has(item));
  return both.length === 0 ? value : both;
}

/** A number, in whichever way it was kept; NaN for anything else. */
export function numberOf(value: Json | undefined): number {
  if (value instanceof ExactNumber) return Number(value.text);
  return typeof value === 'number' ? value : Number.NaN;
}

/**
 * Bounds that the format only has with the bound included: exact for integers, a little wider for other numbers. Draft 4
 * wrote them as `true` beside `minimum`, which is the same bound.
 */
export function inclusiveBounds(schema: JsonObject): JsonObject {
  if (schema['exclusiveMinimum'] === undefined && schema['exclusiveMaximum'] === undefined) return schema;
  const { exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const step = schema['type'] === 'integer' ? 1 : 0;
  const least = numberOf(exclusiveMinimum) + step;
  const most = numberOf(exclusiveMaximum) - step;
  return {
    ...rest,
    ...(Number.isFinite(least) && { minimum: narrower(rest['minimum'], least, Math.max) }),
    ...(Number.isFinite(most) && { maximum: narrower(rest['maximum'], most, Math.min) }),
  };
}

function narrower(given: Json | undefined, bound: number, choose: (a: number, b: number) => number): number {
  const other = numberOf(given);
  return Number.isNaN(other) ? bound : choose(other, bound);
}
