import type { z } from 'zod';
import type { PluginRequest } from '../canonical/directives.ts';
import { invalid } from '../canonical/gateway-error.ts';
import { parseJson, parseJsonObject, type JsonObject } from '../lib/json.ts';
import { nanoFromUsd, usdFromNano } from '../lib/money.ts';

/** What reading a sent value may need of the process. */
export interface ParseContext {
  /** @throws GatewayError 400 for a plugin that no request may have */
  readonly readPlugins: (sent: readonly unknown[], path: string) => readonly PluginRequest[];
}

/**
 * A type of column: its value in SQL (`Stored`), in a row (`Value`) and, where the API shows or takes it, in JSON (`Wire`).
 * Both databases hold text and whole numbers, and nothing else.
 */
export interface Column<Stored = unknown, Value = unknown, Wire = unknown> {
  encode(this: void, value: Value): Stored;
  decode(this: void, stored: Stored): Value;
  serialize(this: void, value: Value): Wire;
  /** @param path the member that was sent, for errors. @throws GatewayError 400 */
  parse(this: void, sent: Wire, path: string, context: ParseContext): Value;
}

/** Both sides of a column whose values the API neither shows nor takes. */
export type Codec<Stored = unknown, Value = unknown> = Pick<Column<Stored, Value>, 'encode' | 'decode'>;

/** A boolean as both databases store it. */
export type Flag = 0 | 1;

export function flagOf(value: boolean): Flag {
  return value ? 1 : 0;
}

/** The codec of what is the same on both sides. The row mapper copies such a value. */
export const same = <Value>(value: Value): Value => value;
const plain = { encode: same, decode: same, serialize: same, parse: same };

export const text: Column<string, string, string> = plain;
export const integer: Column<number, number, number> = plain;
export const flag: Column<Flag, boolean, boolean> = {
  encode: flagOf,
  decode: (stored) => stored === 1,
  serialize: same,
  parse: same,
};

/** A text of a closed set. */
export function textOf<Value extends string>(): Column<Value, Value, Value> {
  return plain;
}

/** A moment: milliseconds since 1970 inside, ISO 8601 in JSON. */
export const time: Column<number, number, string> = {
  encode: same,
  decode: same,
  serialize: serializeTime,
  parse: parseUtc,
};

export function serializeTime(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** `+00:00` is how many languages write UTC; any other offset is a 400. @spec key-2 */
function parseUtc(sent: string, path: string): number {
  if (!/(?:Z|[+-]00:?00)$/.test(sent)) throw invalid(path, 'must be in UTC: end it with "Z"');
  const atMs = Date.parse(sent);
  if (Number.isNaN(atMs)) throw invalid(path, 'is not a time');
  return atMs;
}

/** Money: nano-USD inside, USD in JSON, to the nearest. */
export const money: Column<number, number, number> = {
  encode: same,
  decode: same,
  serialize: usdFromNano,
  parse: nanoFromUsd,
};

/** USD; null: none, or unknown. */
export function serializeUsd(nanoUsd: number | null): number | null {
  return nanoUsd === null ? null : usdFromNano(nanoUsd);
}

const PPM = 1_000_000;

/** A share: parts per million inside, a fraction of 1 in JSON. */
export const share: Column<number, number, number> = {
  encode: same,
  decode: same,
  serialize: (ppm) => ppm / PPM,
  parse: (fraction) => Math.round(fraction * PPM),
};

/**
 * A value that is kept as JSON.
 * @throws Error for what does not fit: a request must not run as if a setting that cannot be read were not there
 */
export function json<Schema extends z.ZodType>(schema: Schema): Column<string, z.output<Schema>, z.output<Schema>> {
  return {
    encode: (value) => JSON.stringify(value),
    decode: (stored) => schema.parse(JSON.parse(stored)),
    serialize: same,
    parse: same,
  };
}

/** A value inside a column of JSON, which has it as rows do. */
export function jsonValue<Schema extends z.ZodType>(
  stored: Schema,
): Column<z.output<Schema>, z.output<Schema>, z.output<Schema>> & { readonly stored: Schema } {
  return { ...plain, stored };
}

/** A list that is kept as JSON. */
export function list<Item extends string | number>(item: z.ZodType<Item>): Column<string, readonly Item[], Item[]> {
  return { ...json(item.array().readonly()), serialize: (items) => [...items] };
}

/**
 * A list of names that restricts a setting to them; null: no restriction. What cannot be read restricts to nothing: a
 * restriction that is lost must not open the setting to all.
 */
export const restriction: Column<string | null, readonly string[] | null, string[] | null> = {
  encode: (names) => (names === null ? null : JSON.stringify(names)),
  decode(stored) {
    if (stored === null) return null;
    const names = parseJson(stored);
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  },
  serialize: (names) => names && [...names],
  parse: same,
};

/** An object of JSON that only its owner understands. What cannot be read is empty: an odd row must not hide the others. */
export const jsonObject: Column<string, JsonObject, Record<string, unknown>> = {
  encode: (value) => JSON.stringify(value),
  decode: (stored) => parseJsonObject(stored) ?? {},
  serialize: (value) => ({ ...value }),
  parse: (sent) => parseJsonObject(JSON.stringify(sent)) ?? {},
};

/** The same column, which may be null in SQL, in a row and in JSON. */
export function nullable<Stored, Value, Wire>(
  column: Column<Stored, Value, Wire>,
): Column<Stored | null, Value | null, Wire | null> {
  const isPlain = column.encode === same && column.decode === same;
  const { encode, decode }: Codec<Stored | null, Value | null> = isPlain ? column : nullableCodec(column);
  return {
    encode,
    decode,
    serialize: (value) => (value === null ? null : column.serialize(value)),
    parse: (sent, path, context) => (sent === null ? null : column.parse(sent, path, context)),
  };
}

function nullableCodec<Stored, Value>({ encode, decode }: Codec<Stored, Value>): Codec<Stored | null, Value | null> {
  return {
    encode: (value) => (value === null ? null : encode(value)),
    decode: (stored) => (stored === null ? null : decode(stored)),
  };
}
