import { isJsonObject } from '../../lib/json.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import type { WireObject } from './wire-object.ts';

/**
 * Keywords that structured output refuses with status 400, by the type that they belong to.
 * @source github.com/pydantic/pydantic-ai `BedrockJsonSchemaTransformer`, checked against the service there 2026-05: its
 *   documentation differs in two places
 */
const REFUSED: ReadonlyMap<Json | undefined, readonly string[]> = new Map([
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
  ['integer', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
  ['array', ['maxItems']],
]);
/** Of arrays only 0 and 1 are taken as their least length. */
const MIN_ITEMS_MAX = 1;

/** Members that hold schemas by names of the caller's choice. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);
/** Members whose values are data and not schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples', 'required']);

/**
 * A schema as structured output takes it: every object closed, and without what is refused.
 * @returns `dropped`: the keywords that bind the model no more
 */
export function lowerSchema(schema: JsonObject): {
  readonly schema: JsonObject;
  readonly dropped: ReadonlySet<string>;
} {
  const dropped = new Set<string>();
  return { schema: lowerNode(schema, dropped), dropped };
}

function lowerNode(node: JsonObject, dropped: Set<string>): JsonObject {
  const lowered: WireObject = {};
  const refused = REFUSED.get(node['type']) ?? [];
  for (const [member, value] of Object.entries(node)) {
    const tooLong = member === 'minItems' && typeof value === 'number' && value > MIN_ITEMS_MAX;
    if (tooLong || refused.includes(member)) dropped.add(member);
    else if (DATA.has(member)) lowered[member] = value;
    else if (NAMED_SCHEMAS.has(member) && isJsonObject(value)) lowered[member] = lowerNamed(value, dropped);
    else lowered[member] = lowerValue(value, dropped);
  }
  if (node['type'] !== 'object' || node['additionalProperties'] === false) return lowered;
  if (node['additionalProperties'] !== undefined) dropped.add('additionalProperties');
  return { ...lowered, additionalProperties: false };
}

function lowerNamed(schemas: JsonObject, dropped: Set<string>): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, value]) => [name, lowerValue(value, dropped)]));
}

function lowerValue(value: Json | undefined, dropped: Set<string>): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => lowerValue(item, dropped) ?? null);
  return isJsonObject(value) ? lowerNode(value, dropped) : value;
}
