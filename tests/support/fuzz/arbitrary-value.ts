import { isJsonObject, type Json, type JsonObject } from '../../../src/lib/json.ts';
import { listOf } from '../reported.ts';
import type { Random } from '../random.ts';

const DEPTH_MAX = 6;
const ITEMS_MAX = 3;
/** Of optional members, how many are there. */
const OPTIONAL = 0.35;
const NUMBERS = [0, 1, 2, 5, 10, 100, 0.5, 1_000_000];
const WORDS = [
  'one',
  'a name',
  'x',
  'sandbox/echo',
  'sandbox',
  'day',
  '2026-11-01',
  'https://example.com/hook',
  'admin',
];

const TEXTS_BY_FORMAT: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-11-01T00:00:00Z', '2030-01-01T12:00:00+02:00'],
  date: ['2026-11-01', '2026-02-28'],
  uri: ['https://example.com/hook', 'http://127.0.0.1:1/'],
  url: ['https://example.com/hook', 'http://127.0.0.1:1/'],
  email: ['one@example.com', 'two@example.com'],
  uuid: ['00000000-0000-0000-0000-000000000000', 'b3b9ad5c-6c1d-4f5e-9d0a-0a4c8f6f2b11'],
};

/** Values that fit a JSON Schema of openapi.json, or nearly: bounds of texts are left to chance. */
export class ArbitraryValue {
  readonly #components: JsonObject;
  readonly #random: Random;
  /** What earlier responses named: ids, hashes, slugs. */
  readonly #names: readonly string[];

  constructor(components: JsonObject, random: Random, names: readonly string[]) {
    this.#components = components;
    this.#random = random;
    this.#names = names;
  }

  of(given: Json | undefined, depth = 0): Json {
    const schema = this.#resolve(given);
    if (schema['const'] !== undefined) return schema['const'];
    const values = schema['enum'];
    if (Array.isArray(values) && values.length > 0) return this.#random.pick(values);
    const choices = [...listOf(schema['anyOf'] ?? []), ...listOf(schema['oneOf'] ?? [])];
    if (choices.length > 0) return this.of(this.#random.pick(choices), depth + 1);
    const parts = listOf(schema['allOf'] ?? []);
    if (parts.length > 0) return Object.assign({}, ...parts.map((part) => this.of(part, depth + 1))) as JsonObject;
    return this.#ofType(schema, depth);
  }

  #ofType(schema: JsonObject, depth: number): Json {
    const types = [schema['type'] ?? (schema['properties'] === undefined ? 'string' : 'object')].flat();
    const type = this.#random.pick(types);
    switch (typeof type === 'string' ? type : '') {
      case 'object':
        return this.#object(schema, depth);
      case 'array':
        return depth > DEPTH_MAX
          ? []
          : Array.from({ length: this.#random.int(0, ITEMS_MAX) }, () => this.of(schema['items'], depth + 1));
      case 'integer':
        return Math.round(this.#number(schema));
      case 'number':
        return this.#number(schema);
      case 'boolean':
        return this.#random.chance(0.5);
      case 'null':
        return null;
      default:
        return this.#text(schema);
    }
  }

  #object(schema: JsonObject, depth: number): JsonObject {
    const required = new Set(listOf(schema['required'] ?? []));
    const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
    const members = Object.entries(properties).filter(
      ([name]) => required.has(name) || (depth <= DEPTH_MAX && this.#random.chance(OPTIONAL)),
    );
    const more = schema['additionalProperties'];
    const own = isJsonObject(more) && depth <= DEPTH_MAX ? [[this.#text({}), this.of(more, depth + 1)] as const] : [];
    return Object.fromEntries([...members.map(([name, value]) => [name, this.of(value, depth + 1)] as const), ...own]);
  }

  #number({ minimum, maximum }: JsonObject): number {
    const fitting = NUMBERS.filter(
      (value) => (typeof minimum !== 'number' || value >= minimum) && (typeof maximum !== 'number' || value <= maximum),
    );
    if (fitting.length > 0 && this.#random.chance(0.9)) return this.#random.pick(fitting);
    return typeof minimum === 'number' ? minimum : -1;
  }

  #text({ format, examples }: JsonObject): string {
    const known =
      typeof format === 'string' && Object.hasOwn(TEXTS_BY_FORMAT, format) ? TEXTS_BY_FORMAT[format] : undefined;
    if (known !== undefined) return this.#random.pick(known);
    const shown = listOf(examples ?? []).filter((one) => typeof one === 'string');
    if (shown.length > 0 && this.#random.chance(0.5)) return this.#random.pick(shown);
    return this.#random.pick(this.#names.length > 0 && this.#random.chance(0.5) ? this.#names : WORDS);
  }

  #resolve(given: Json | undefined): JsonObject {
    const schema = isJsonObject(given) ? given : {};
    const name = typeof schema['$ref'] === 'string' ? schema['$ref'].split('/').at(-1) : undefined;
    const found = name === undefined ? undefined : this.#components[name];
    return isJsonObject(found) ? this.#resolve(found) : schema;
  }
}
