import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { allow, costOf, costOfText, createBudget, spend, type SchemaBudget } from './schema-budget.ts';
import { inclusiveBounds, mergeSchemas, numberOf, resolveReference } from './schema-merge.ts';

type Members = Record<string, Json>;

/** Deeper than this, a value may be anything. */
const DEPTH_MAX = 32;
/** References that lead to references, and those around them. */
const REFERENCES_MAX = 100;

const TYPES: ReadonlyMap<unknown, string> = new Map(
  ['string', 'number', 'integer', 'boolean', 'array', 'object'].map((type) => [type, type.toUpperCase()]),
);
/** The vendor's error is "only 'enum' and 'date-time' are supported for STRING type" (langchain and others): @spec translate-20. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  STRING: ['date-time'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
};
const BOUNDS: Readonly<Record<string, readonly string[]>> = {
  STRING: ['minLength', 'maxLength'],
  NUMBER: ['minimum', 'maximum'],
  INTEGER: ['minimum', 'maximum'],
  ARRAY: ['minItems', 'maxItems'],
  OBJECT: ['minProperties', 'maxProperties'],
};

interface Walk {
  readonly root: JsonObject;
  readonly budget: SchemaBudget;
}

/** Where in the schema: how deep, and inside of which references. */
interface Place {
  readonly depth: number;
  readonly references: readonly string[];
}

/**
 * A JSON Schema as the subset of OpenAPI 3.0 that older models take: any other keyword is an unknown field to them, and
 * refused with the whole request. References are written out, unions become `anyOf`, unsupported keywords are left out, so
 * that the result allows what the schema allows and sometimes more.
 * @param budget one for all schemas of a request
 * @source the vendor's reference of `Schema`, read 2026-11; @spec translate-20
 */
export function lowerSchema(schema: JsonObject, budget: SchemaBudget = createBudget()): JsonObject {
  allow(schema, budget);
  return lower(schema, { root: schema, budget }, { depth: 0, references: [] });
}

function lower(given: Json | undefined, walk: Walk, place: Place): JsonObject {
  if (!isJsonObject(given)) return anything('');
  const affordable = spend(walk.budget, costOf(given)) && place.depth <= DEPTH_MAX;
  const expanded = affordable ? expand(given, walk, place) : undefined;
  if (expanded === undefined) return anything('');
  const { schema, references, isCycle } = expanded;
  const description = descriptionOf(schema);
  if (isCycle) return { type: 'OBJECT', ...(description !== '' && { description }) };
  const inner = { depth: place.depth + 1, references };
  const union = unionOf(schema, walk);
  if (union !== undefined) return lowerUnion(union, walk, inner);
  const type = typeOf(schema);
  return type === undefined ? anything(description) : lowerTyped(type, schema, walk, inner);
}

/** The vendor wants a type everywhere, and has none for "any". */
function anything(description: string): JsonObject {
  const stated = description === '' ? {} : { description };
  return { anyOf: ['STRING', 'NUMBER', 'BOOLEAN', 'OBJECT'].map((type) => ({ type, ...stated })) };
}

function descriptionOf({ description }: JsonObject): string {
  return typeof description === 'string' ? description : '';
}

interface Expanded {
  readonly schema: JsonObject;
  readonly references: readonly string[];
  readonly isCycle: boolean;
}

/** The schema with its references and its several demands written into it; `undefined` when there is no end to it. */
function expand(given: JsonObject, walk: Walk, place: Place): Expanded | undefined {
  let schema = given;
  let references = place.references;
  // Each round takes one `$ref` or `allOf` away, and no reference is followed inside of itself.
  for (;;) {
    // Few schemas have either, and a copy of one with ten thousand members takes its time.
    if (typeof schema['$ref'] !== 'string' && !Array.isArray(schema['allOf']))
      return { schema: inclusiveBounds(schema), references, isCycle: false };
    const { $ref: reference, allOf, ...rest } = schema;
    if (typeof reference === 'string') {
      if (references.includes(reference)) return { schema, references, isCycle: true };
      references = [...references, reference];
      const target = resolveReference(walk.root, reference) ?? {};
      if (references.length > REFERENCES_MAX || !spend(walk.budget, costOf(target))) return undefined;
      const merged = mergeSchemas(target, { ...rest, ...(allOf !== undefined && { allOf }) });
      // Keywords beside a reference win over those of the definition.
      const stated = rest['description'];
      schema = stated === undefined ? merged : { ...merged, description: stated };
    } else {
      schema = rest;
      for (const member of Array.isArray(allOf) ? allOf.filter((item: Json) => isJsonObject(item)) : []) {
        if (!spend(walk.budget, costOf(schema) + costOf(member))) return undefined;
        schema = mergeSchemas(schema, member);
      }
    }
  }
}

interface Union {
  readonly members: readonly JsonObject[];
  readonly nullable: boolean;
  readonly description: string;
}

/** What of `anyOf`, `oneOf` or a list of types is one of several; `undefined` where there is no choice. */
function unionOf(schema: JsonObject, walk: Walk): Union | undefined {
  if (!['anyOf', 'oneOf', 'type'].some((member) => Array.isArray(schema[member]))) return undefined;
  const { anyOf, oneOf, type, description: _said, ...rest } = schema;
  const choices = Array.isArray(anyOf) ? anyOf : oneOf;
  const description = descriptionOf(schema);
  const isNullable = schema['nullable'] === true;
  if (Array.isArray(choices)) {
    const around = type === undefined ? rest : { ...rest, type };
    const members = choices.filter((member: Json) => isJsonObject(member));
    const others = members.filter((member) => !isNull(member));
    if (others.length === 0 || !spend(walk.budget, others.length * costOf(around))) return undefined;
    // A member may rest on what stands around the union: `{type, properties, anyOf: [{required}]}`.
    const full = others.map((member) => mergeSchemas(around, member));
    return { members: full, nullable: isNullable || others.length < members.length, description };
  }
  if (!Array.isArray(type)) return undefined;
  const types = new Set(type.filter((name: Json) => TYPES.has(name)));
  if (types.size === 0) return undefined;
  const members = [...types].map((name) => ({ ...rest, type: name }));
  return { members, nullable: isNullable || type.includes('null'), description };
}

function isNull(schema: JsonObject): boolean {
  const { type, enum: values, const: only } = schema;
  if (type === 'null' || only === null) return true;
  return Array.isArray(values) && values.length > 0 && values.every((value: Json) => value === null);
}

/** "When using any_of, it must be the only field set": the other keywords go into the members. */
function lowerUnion({ members, nullable, description }: Union, walk: Walk, place: Place): JsonObject {
  const lowered = members.map((member) => {
    const encoded = lower(member, walk, place);
    const silent = encoded['anyOf'] === undefined && encoded['description'] === undefined && description !== '';
    return silent && spend(walk.budget, costOfText(description)) ? { ...encoded, description } : encoded;
  });
  const flat = lowered.flatMap((member) => membersOf(member) ?? [member]);
  const [first, ...others] = unique(flat);
  if (first === undefined) return anything(description);
  // The first member may be like another one once it is nullable.
  const all = nullable ? unique([{ ...first, nullable }, ...others]) : [first, ...others];
  return all.length === 1 ? (all[0] ?? first) : { anyOf: all };
}

function membersOf({ anyOf }: JsonObject): readonly JsonObject[] | undefined {
  return Array.isArray(anyOf) ? anyOf.filter((member: Json) => isJsonObject(member)) : undefined;
}

/** Schemas that differ in the order of their keywords alone are the same. */
function unique(schemas: readonly JsonObject[]): readonly JsonObject[] {
  if (schemas.length < 2) return schemas;
  const first = new Map<string, JsonObject>();
  for (const schema of schemas) {
    const name = JSON.stringify(schema, sortedKeywords);
    if (!first.has(name)) first.set(name, schema);
  }
  return [...first.values()];
}

function sortedKeywords(_key: string, value: Json): Json {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}

/** The stated type, or the one that the other keywords imply. */
function typeOf(schema: JsonObject): string | undefined {
  const reported = TYPES.get(schema['type']);
  if (reported !== undefined) return reported;
  if (isJsonObject(schema['properties'])) return 'OBJECT';
  if (schema['items'] !== undefined || Array.isArray(schema['prefixItems'])) return 'ARRAY';
  const values = valuesOf(schema);
  if (values === undefined) return undefined;
  const kinds = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  const [kind] = kinds;
  return kinds.size === 1 ? TYPES.get(kind) : undefined;
}

function valuesOf(schema: JsonObject): readonly Json[] | undefined {
  const { enum: values, const: only } = schema;
  if (Array.isArray(values)) return values;
  return only === undefined ? undefined : [only];
}

function lowerTyped(type: string, schema: JsonObject, walk: Walk, place: Place): JsonObject {
  const lowered: Members = { type };
  const { description, format, pattern } = schema;
  if (typeof description === 'string' && description !== '') lowered['description'] = description;
  if (typeof format === 'string' && FORMATS[type]?.includes(format)) lowered['format'] = format;
  for (const bound of BOUNDS[type] ?? []) {
    const value = schema[bound];
    if (value !== undefined && !Number.isNaN(numberOf(value))) lowered[bound] = value;
  }
  const values = valuesOf(schema);
  if (schema['nullable'] === true || values?.includes(null) === true) lowered['nullable'] = true;
  if (values !== undefined) addValues(lowered, type, values);
  if (type === 'STRING' && typeof pattern === 'string') lowered['pattern'] = pattern;
  if (type === 'ARRAY') lowerItems(lowered, schema, walk, place);
  if (type === 'OBJECT') lowerProperties(lowered, schema, walk, place);
  return lowered;
}

/** Only strings can be listed, and none of them empty; other values go into the description. */
function addValues(lowered: Members, type: string, values: readonly Json[]): void {
  const reported = values.filter((value) => value !== null);
  if (type === 'STRING') {
    const texts = reported.filter((value): value is string => typeof value === 'string' && value !== '');
    if (texts.length === reported.length && texts.length > 0)
      Object.assign(lowered, { format: 'enum', enum: [...texts] });
    return;
  }
  if (reported.length === 0 || type === 'ARRAY' || type === 'OBJECT') return;
  const words = `One of: ${reported.map((value) => JSON.stringify(value)).join(', ')}.`;
  const before = lowered['description'];
  lowered['description'] = typeof before === 'string' ? `${before} ${words}` : words;
}

/** There is no keyword for a list of fixed places: each place may hold what any of them may. */
function lowerItems(lowered: Members, schema: JsonObject, walk: Walk, place: Place): void {
  const { items, prefixItems } = schema;
  const places: readonly Json[] | undefined = Array.isArray(items)
    ? items
    : Array.isArray(prefixItems)
      ? prefixItems
      : undefined;
  if (places === undefined) {
    lowered['items'] = lower(items, walk, place);
    return;
  }
  const encoded = unique(places.map((item) => lower(item, walk, place)).flatMap((item) => membersOf(item) ?? [item]));
  const [first, ...others] = encoded;
  lowered['items'] = first === undefined ? anything('') : others.length === 0 ? first : { anyOf: encoded };
}

/** Named and required properties; one that nothing satisfies is left out. The order is the caller's own. */
function lowerProperties(lowered: Members, schema: JsonObject, walk: Walk, place: Place): void {
  const { properties, required, propertyOrdering } = schema;
  const entries = Object.entries(isJsonObject(properties) ? properties : {}).filter(
    ([name, value]) => name !== '__proto__' && value !== false,
  );
  if (entries.length === 0) return;
  lowered['properties'] = Object.fromEntries(entries.map(([name, value]) => [name, lower(value, walk, place)]));
  const names = entries.map(([name]) => name);
  const demanded = new Set<Json>(Array.isArray(required) ? required : []);
  const needed = names.filter((name) => demanded.has(name));
  if (needed.length > 0) lowered['required'] = needed;
  const known = new Set<Json>(names);
  const reported = Array.isArray(propertyOrdering) ? propertyOrdering.filter((name: Json) => known.has(name)) : [];
  lowered['propertyOrdering'] = [...new Set<Json>([...reported, ...names])];
}
