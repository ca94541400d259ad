import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { itemsOf } from '../../json-fields.ts';

/** Keywords that structured output refuses with status 400, by the type that they belong to. */
export type RefusedKeywords = ReadonlyMap<unknown, ReadonlySet<string>>;

/** The keywords of numbers that every host of Claude models refuses. */
export const REFUSED_NUMBERS: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
]);

export interface ClosedSchema {
  readonly schema: JsonObject;
  /** The keywords that bind the model no more. */
  readonly dropped: ReadonlySet<string>;
}

/** Of arrays only 0 and 1 are taken as their least length. */
const MIN_ITEMS_MAX = 1;

/** Members that hold schemas by names of the caller's choice. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);
/** Members whose values are data and not schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples', 'required']);

/** A schema as the structured output of Claude models takes it: every object closed, and without what is refused. */
export function closeSchema(schema: JsonObject, refused: RefusedKeywords): ClosedSchema {
  const dropped = new Set<string>();
  return { schema: closeNode(schema, { refused, dropped }), dropped };
}

interface Walk {
  readonly refused: RefusedKeywords;
  readonly dropped: Set<string>;
}

function closeNode(node: JsonObject, walk: Walk): JsonObject {
  const { refused, dropped } = walk;
  const closed: Record<string, Json | undefined> = {};
  const types = Array.isArray(node['type']) ? itemsOf(node['type']) : [node['type']];
  const isRefused = (member: string): boolean => types.some((type) => refused.get(type)?.has(member) === true);
  for (const [member, value] of Object.entries(node)) {
    const tooLong = member === 'minItems' && typeof value === 'number' && value > MIN_ITEMS_MAX;
    if (tooLong || isRefused(member)) dropped.add(member);
    else if (DATA.has(member)) closed[member] = value;
    else if (NAMED_SCHEMAS.has(member) && isJsonObject(value)) closed[member] = closeNamed(value, walk);
    else closed[member] = closeValue(value, walk);
  }
  const isObject = types.includes('object') || (node['type'] === undefined && isJsonObject(node['properties']));
  if (!isObject || node['additionalProperties'] === false) return closed;
  if (node['additionalProperties'] !== undefined) dropped.add('additionalProperties');
  return { ...closed, additionalProperties: false };
}

function closeNamed(schemas: JsonObject, walk: Walk): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, closeValue(value, walk)]));
}

function closeValue(value: Json | undefined, walk: Walk): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => closeValue(item, walk) ?? null);
  return isJsonObject(value) ? closeNode(value, walk) : value;
}
