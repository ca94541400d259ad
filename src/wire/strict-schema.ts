import type { GenerationRequest, ResponseFormat } from '../canonical/request.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import type { Dialect } from './format.ts';
import { itemsOf } from './json-fields.ts';

/** Words that schemas may hold which the vendor is to hold a response to. Data and notes are not looked into. */
const KNOWN: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  '$ref',
  '$defs',
]);

type SchemaFormat = Extract<ResponseFormat, { type: 'json_schema' }>;

/**
 * `strict` as it is to be sent. The messages format always holds a response to its schema and has no member for that; where
 * another format needs the member, it is set for its callers.
 */
export function strictnessOf(
  { strict, schema }: SchemaFormat,
  caller: GenerationRequest['format'],
  { strictSchemas }: Dialect,
): boolean | undefined {
  if (strict !== undefined || caller !== 'messages' || strictSchemas !== true) return strict;
  return schema !== undefined && isStrictSchema(schema) ? true : undefined;
}

/**
 * Whether OpenAI takes a schema as a strict one: objects are closed and all their members required, and all keywords are
 * among those that were always supported. developers.openai.com "Structured model outputs", "Supported schemas", read
 * 2026-11.
 */
export function isStrictSchema(schema: JsonObject): boolean {
  return schema['type'] === 'object' && schema['anyOf'] === undefined && isStrict(schema);
}

function isStrict(value: Json | undefined): boolean {
  if (!isJsonObject(value) || Object.keys(value).some((word) => !KNOWN.has(word))) return false;
  const { properties, additionalProperties, required, items, anyOf, $defs } = value;
  const types = Array.isArray(value['type']) ? itemsOf(value['type']) : [value['type']];
  if (types.includes('object') || properties !== undefined) {
    const names = Object.keys(isJsonObject(properties) ? properties : {});
    if (additionalProperties !== false || names.some((name) => !itemsOf(required).includes(name))) return false;
  }
  return (
    areStrict(properties) &&
    areStrict($defs) &&
    (items === undefined || isStrict(items)) &&
    (anyOf === undefined || (Array.isArray(anyOf) && anyOf.every((inner: Json) => isStrict(inner))))
  );
}

function areStrict(schemas: Json | undefined): boolean {
  return schemas === undefined || (isJsonObject(schemas) && Object.values(schemas).every((inner) => isStrict(inner)));
}
