import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { allow, costOf, createBudget, spend, type SchemaBudget } from './schema-budget.ts';
import { inclusiveBounds, mergeSchemas, resolveReference } from './schema-merge.ts';

/** Keywords that hold one schema, a list of them, or schemas by name. Everything else is data. */
const ONE = new Set(['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames']);
const LIST = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const NAMED = new Set(['properties', '$defs', 'patternProperties', 'dependentSchemas']);
/** Keywords about how to read the schema document. */
const META = new Set(['$schema', '$comment', '$vocabulary']);

const OLD_DEFINITIONS = '#/definitions/';
const DEFINITIONS = '#/$defs/';
/** References followed inside of each other, where several demands become one. */
const REFERENCES_DEPTH_MAX = 20;

interface Walk {
  readonly root: JsonObject;
  readonly budget: SchemaBudget;
  /** References that the walk is inside of. */
  readonly inside: string[];
}

/**
 * A JSON Schema with the keywords that the vendor supports. The member takes any JSON Schema and ignores what it does not
 * know: `const`, exclusive bounds and `allOf` would bind nothing. It supports `$id`, `$defs`, `$ref`, `$anchor`, `type`,
 * `format`, `title`, `description`, `enum`, `items`, `prefixItems`, `minItems`, `maxItems`, `minimum`, `maximum`, `anyOf`,
 * `oneOf`, `properties`, `additionalProperties`, `required` and `propertyOrdering`, and a `$ref` must stand alone.
 * A schema of nothing else comes back as it is.
 * @param budget one for all schemas of a request
 * @source the vendor's reference of `responseJsonSchema`, read 2026-11; earendil-works/pi-ai 1.5.2 (2026-11) for `const`
 */
export function prepareJsonSchema(schema: JsonObject, budget: SchemaBudget = createBudget()): JsonObject {
  allow(schema, budget);
  const root = renameDefinitions(schema);
  return prepare(root, { root, budget, inside: [] });
}

/** Definitions of older drafts, under the one name that is supported. */
function renameDefinitions(schema: JsonObject): JsonObject {
  const { definitions, ...rest } = schema;
  if (!isJsonObject(definitions)) return schema;
  return { ...rest, $defs: { ...definitions, ...(isJsonObject(rest['$defs']) && rest['$defs']) } };
}

function prepare(schema: JsonObject, walk: Walk): JsonObject {
  const depth = walk.inside.length;
  spend(walk.budget, costOf(schema));
  const plain = aloneWithReference(inclusiveBounds(constAsEnum(joinAllOf(schema, walk))));
  const prepared: Record<string, Json | undefined> = {};
  for (const keyword in plain) {
    if (keyword === '__proto__' || META.has(keyword)) continue;
    const value = plain[keyword];
    if (value !== undefined) prepared[keyword] = prepareKeyword(keyword, value, walk);
  }
  walk.inside.length = depth;
  return prepared;
}

function prepareKeyword(keyword: string, value: Json, walk: Walk): Json {
  if (keyword === '$ref') return typeof value === 'string' ? renamed(value) : value;
  if (ONE.has(keyword)) return isJsonObject(value) ? prepare(value, walk) : prepareAll(value, walk);
  if (LIST.has(keyword)) return prepareAll(value, walk);
  if (!NAMED.has(keyword) || !isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(
      ([name, schema]) => [name, isJsonObject(schema) ? prepare(schema, walk) : schema] as const,
    ),
  );
}

function prepareAll(value: Json, walk: Walk): Json {
  return Array.isArray(value) ? value.map((item: Json) => (isJsonObject(item) ? prepare(item, walk) : item)) : value;
}

function renamed(reference: string): string {
  return reference.startsWith(OLD_DEFINITIONS) ? DEFINITIONS + reference.slice(OLD_DEFINITIONS.length) : reference;
}

function constAsEnum(schema: JsonObject): JsonObject {
  const { const: only, ...rest } = schema;
  const isValue = typeof only === 'string' || typeof only === 'number';
  return isValue && schema['enum'] === undefined ? { ...rest, enum: [only] } : schema;
}

/** What stands beside a reference would be refused; around a union of one it may stand. */
function aloneWithReference(schema: JsonObject): JsonObject {
  const { $ref: reference, ...rest } = schema;
  const beside = Object.keys(rest).some((keyword) => !keyword.startsWith('$'));
  if (typeof reference !== 'string' || !beside || rest['anyOf'] !== undefined) return schema;
  return { ...rest, anyOf: [{ $ref: reference }] };
}

/** Several demands as one: generators write a reference with a description so. What cannot be joined is left as it is. */
function joinAllOf(schema: JsonObject, walk: Walk): JsonObject {
  const { allOf, ...rest } = schema;
  if (!Array.isArray(allOf)) return schema;
  const members = allOf.filter((member: Json) => isJsonObject(member));
  const [only] = members;
  if (members.length === 1 && typeof only?.['$ref'] === 'string') return { ...rest, ...only };
  let merged: JsonObject = rest;
  for (const member of members) {
    const followed = follow(member, walk);
    if (followed === undefined || !spend(walk.budget, costOf(merged) + costOf(followed))) return schema;
    merged = mergeSchemas(merged, followed);
  }
  return merged;
}

/** `undefined` when there is no end to it. */
function follow(member: JsonObject, walk: Walk): JsonObject | undefined {
  const { $ref: given, ...rest } = member;
  const reference = typeof given === 'string' ? renamed(given) : undefined;
  const target = reference === undefined ? member : (resolveReference(walk.root, reference) ?? {});
  if (reference === undefined) return target;
  if (walk.inside.includes(reference) || walk.inside.length >= REFERENCES_DEPTH_MAX) return undefined;
  walk.inside.push(reference);
  return mergeSchemas(target, rest);
}
