import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import { textOfPattern } from './pattern-text.ts';

/** Values of all kinds in one instance. */
const NODES_MAX = 2_000;
const DEPTH_MAX = 24;
/** Deeper than this only what a schema requires is written. */
const OPTIONAL_DEPTH_MAX = 4;
const ITEMS_MAX = 100;
const STRING_CHARS_MAX = 10_000;
const REFERENCES_MAX = 32;

/** A text that satisfies a `format`. @source JSON Schema 2020-12 validation, 7.3 */
const TEXT_OF_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  email: 'someone@example.com',
  'idn-email': 'someone@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  'uri-reference': '/example',
  iri: 'https://example.com/',
  'iri-reference': '/example',
  uuid: '00000000-0000-4000-8000-000000000000',
  'json-pointer': '/example',
  regex: 'a',
};

interface Site {
  /** What the value is called: a string property holds its own name, so that a reader can follow it. */
  readonly name: string;
  readonly depth: number;
  /** Which of several equal-looking values it is, so that the items of a set differ. */
  readonly variant: number;
}

/**
 * A value that a JSON schema accepts, the same one every time: `const`, `enum`, `type`, `required`, `properties`,
 * `items`, `prefixItems`, bounds, `multipleOf`, `pattern` (the subset of `textOfPattern`), `format`, `anyOf`, `oneOf`,
 * `allOf` and local `$ref`. Not understood: `not`, `if`, `dependentSchemas`, `contains`, remote references.
 */
export function instanceOf(schema: Json | undefined): Json {
  return new InstanceBuilder(schema ?? true).build(schema ?? true, { name: 'value', depth: 0, variant: 0 });
}

/** Builds one instance; holds the root for local references and counts what was built. */
class InstanceBuilder {
  readonly #root: Json;
  #nodes = 0;

  constructor(root: Json) {
    this.#root = root;
  }

  build(schema: Json, site: Site): Json {
    this.#nodes++;
    const plain = isJsonObject(schema) ? this.#flatten(schema, site) : {};
    if (plain['const'] !== undefined) return plain['const'];
    const choices = plain['enum'];
    if (isJsonArray(choices) && choices.length > 0) return choices[site.variant % choices.length] ?? null;
    return this.#buildTyped(plain, site);
  }

  #buildTyped(plain: JsonObject, site: Site): Json {
    switch (typeOf(plain) ?? 'string') {
      case 'object':
        return this.#buildObject(plain, site);
      case 'array':
        return this.#buildArray(plain, site);
      case 'integer':
        return numberWithin(plain, site.variant, true);
      case 'number':
        return numberWithin(plain, site.variant, false);
      case 'boolean':
        return site.variant % 2 === 0;
      case 'null':
        return null;
      default:
        return stringWithin(plain, site);
    }
  }

  /** The schema with its references followed and its combinations reduced to one choice. */
  #flatten(schema: JsonObject, site: Site): JsonObject {
    let flat = schema;
    for (let hops = 0; hops < REFERENCES_MAX; hops++) {
      const { $ref, allOf, anyOf, oneOf, ...rest } = flat;
      if (typeof $ref === 'string') {
        flat = merge(this.#resolve($ref), { ...rest, ...defined({ allOf, anyOf, oneOf }) });
      } else if (isJsonArray(allOf)) {
        flat = allOf.reduce<JsonObject>(
          (sum, part) => (isJsonObject(part) ? merge(sum, this.#withoutReference(part)) : sum),
          { ...rest, ...defined({ anyOf, oneOf }) },
        );
      } else if (isJsonArray(anyOf)) {
        flat = merge({ ...rest, ...defined({ oneOf }) }, this.#choose(anyOf, site));
      } else if (isJsonArray(oneOf)) {
        flat = merge(rest, this.#choose(oneOf, site));
      } else {
        return flat;
      }
    }
    return {};
  }

  #withoutReference(schema: JsonObject): JsonObject {
    const { $ref, ...rest } = schema;
    return typeof $ref === 'string' ? merge(this.#resolve($ref), rest) : schema;
  }

  /** The first option; deep down the first that needs no members, so that a recursive schema ends. */
  #choose(options: readonly Json[], site: Site): JsonObject {
    const objects = options.filter(isJsonObject);
    const isDeep = site.depth > OPTIONAL_DEPTH_MAX;
    const leaf = isDeep ? objects.find((option) => isLeaf(this.#withoutReference(option))) : undefined;
    const notNull = objects.find((option) => option['type'] !== 'null');
    return leaf ?? notNull ?? objects[0] ?? {};
  }

  /** `#`, `#/$defs/name`, `#/definitions/name/items`; anything else accepts everything. */
  #resolve(reference: string): JsonObject {
    if (!reference.startsWith('#')) return {};
    let node: Json | undefined = this.#root;
    for (const step of reference.slice(1).split('/').slice(1)) {
      const key = decodePointer(step);
      if (isJsonArray(node)) node = node[Number(key)];
      else node = isJsonObject(node) && Object.hasOwn(node, key) ? node[key] : undefined;
    }
    return isJsonObject(node) ? node : {};
  }

  #buildObject(schema: JsonObject, site: Site): Json {
    const built: Record<string, Json> = {};
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const required = new Set(stringsOf(schema['required']));
    const members = new Set([...Object.keys(properties), ...required]);
    const max = boundOf(schema['maxProperties']) ?? Number.POSITIVE_INFINITY;
    for (const name of members) {
      const wanted = required.has(name) || (site.depth < OPTIONAL_DEPTH_MAX && members.size <= max);
      if (!wanted || this.#isFull(site)) continue;
      const value = properties[name] ?? schema['additionalProperties'] ?? true;
      // A property that may not exist at all is never written.
      if (value === false) continue;
      setOwn(built, name, this.build(value, { name, depth: site.depth + 1, variant: 0 }));
    }
    const additional = schema['additionalProperties'] ?? true;
    if (additional !== false) this.#addExtraMembers(built, additional, schema, site);
    return built;
  }

  #addExtraMembers(built: Record<string, Json>, additional: Json, schema: JsonObject, site: Site): void {
    const least = Math.min(boundOf(schema['minProperties']) ?? 0, ITEMS_MAX);
    for (let extra = 1; Object.keys(built).length < least && !this.#isFull(site); extra++) {
      const name = `extra${extra}`;
      built[name] ??= this.build(additional, { name, depth: site.depth + 1, variant: 0 });
    }
  }

  #buildArray(schema: JsonObject, site: Site): Json {
    const prefix: readonly Json[] = isJsonArray(schema['prefixItems']) ? schema['prefixItems'] : [];
    const items = schema['items'] ?? true;
    const least = Math.min(boundOf(schema['minItems']) ?? 0, ITEMS_MAX);
    const most = Math.min(boundOf(schema['maxItems']) ?? ITEMS_MAX, ITEMS_MAX);
    const usual = site.depth < OPTIONAL_DEPTH_MAX ? Math.max(prefix.length, items === false ? 0 : 1) : 0;
    const length = Math.min(Math.max(least, usual), most);
    const built: Json[] = [];
    while (built.length < length && !this.#isFull(site)) {
      const item = prefix[built.length] ?? items;
      if (item === false) break;
      built.push(this.build(item, { name: site.name, depth: site.depth + 1, variant: built.length }));
    }
    return built;
  }

  #isFull(site: Site): boolean {
    return this.#nodes >= NODES_MAX || site.depth >= DEPTH_MAX;
  }
}

function typeOf(schema: JsonObject): string | undefined {
  const { type } = schema;
  if (typeof type === 'string') return type;
  const types = stringsOf(type);
  if (types.length > 0) return types.find((name) => name !== 'null') ?? 'null';
  if (schema['properties'] !== undefined || schema['required'] !== undefined) return 'object';
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return 'array';
  const isNumeric = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
  return isNumeric.some((keyword) => schema[keyword] !== undefined) ? 'number' : undefined;
}

function isLeaf(schema: JsonObject): boolean {
  return !['object', 'array'].includes(typeOf(schema) ?? '') || schema['const'] !== undefined;
}

interface Bounds {
  readonly low: number | undefined;
  readonly isLowExcluded: boolean;
  readonly high: number | undefined;
  readonly isHighExcluded: boolean;
}

/** `exclusiveMinimum` is a number since draft 6, and a flag beside `minimum` before, which many still send. */
function boundsOf(schema: JsonObject): Bounds {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const [low, isLowExcluded] = tighter(boundOf(minimum), boundOf(exclusiveMinimum), exclusiveMinimum === true, 1);
  const [high, isHighExcluded] = tighter(boundOf(maximum), boundOf(exclusiveMaximum), exclusiveMaximum === true, -1);
  return { low, isLowExcluded, high, isHighExcluded };
}

function tighter(
  included: number | undefined,
  excluded: number | undefined,
  isFlagged: boolean,
  direction: 1 | -1,
): readonly [bound: number | undefined, isExcluded: boolean] {
  if (included === undefined) return [excluded, true];
  if (excluded === undefined || (included - excluded) * direction > 0) return [included, isFlagged];
  return [excluded, true];
}

/** A small number within the bounds: the least one, or 1 where there is none. Further variants count upwards. */
function numberWithin(schema: JsonObject, variant: number, isInteger: boolean): number {
  const bounds = boundsOf(schema);
  const { low, isLowExcluded, high } = bounds;
  const step = boundOf(schema['multipleOf']) || (isInteger ? 1 : undefined);
  if (step !== undefined) return tidy(stepWithin(bounds, step, variant) * step);
  if (low !== undefined && high !== undefined)
    return low + ((high - low) * (variant + (isLowExcluded ? 1 : 0))) / (ITEMS_MAX + 1);
  if (low !== undefined) return low + variant + (isLowExcluded ? 1 : 0);
  return high === undefined ? 1 + variant : Math.min(1, high - 1) - variant;
}

/** How many steps a fitting multiple of `step` is away from 0: the least one, or 1 where there is no minimum. */
function stepWithin({ low, isLowExcluded, high, isHighExcluded }: Bounds, step: number, variant: number): number {
  let last = Number.POSITIVE_INFINITY;
  if (high !== undefined) last = isHighExcluded ? Math.ceil(high / step) - 1 : Math.floor(high / step);
  let first = Math.min(1, last);
  if (low !== undefined) first = isLowExcluded ? Math.floor(low / step) + 1 : Math.ceil(low / step);
  if (first + variant <= last) return first + variant;
  // Beyond the maximum: from the beginning again, or downwards where nothing holds it.
  return low === undefined ? last - variant : first + (variant % Math.max(1, last - first + 1));
}

/** 3 * 0.1 is 0.30000000000000004, which is no multiple of 0.1 for a validator. */
function tidy(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(12));
}

function stringWithin(schema: JsonObject, site: Site): string {
  const { pattern, format } = schema;
  const least = Math.min(boundOf(schema['minLength']) ?? 0, STRING_CHARS_MAX);
  const most = boundOf(schema['maxLength']) ?? STRING_CHARS_MAX;
  if (typeof pattern === 'string') return textOfPattern(pattern, least);
  if (typeof format === 'string' && Object.hasOwn(TEXT_OF_FORMAT, format)) return TEXT_OF_FORMAT[format] ?? '';
  const suffix = site.variant === 0 ? '' : String(site.variant + 1);
  const name = site.name.slice(0, Math.max(0, most - suffix.length)) + suffix;
  return name.padEnd(least, 'x').slice(0, most);
}

/** The intersection of two schemas, as far as one place can express it: fields and requirements add up, the second wins. */
function merge(first: JsonObject, second: JsonObject): JsonObject {
  const merged: Record<string, Json | undefined> = { ...first, ...second };
  if (isJsonObject(first['properties']) && isJsonObject(second['properties']))
    merged['properties'] = { ...first['properties'], ...second['properties'] };
  if (first['required'] !== undefined && second['required'] !== undefined)
    merged['required'] = [...stringsOf(first['required']), ...stringsOf(second['required'])];
  return merged;
}

function defined(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function stringsOf(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function boundOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** `~1` and `~0` of RFC 6901 inside a URI fragment; a broken escape names nothing. */
function decodePointer(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    // Not an escape sequence after all: the text is the name of the member.
    return step;
  }
}

/** Plain assignment of `__proto__` would change the prototype instead. */
function setOwn(target: Record<string, Json>, name: string, value: Json): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}
