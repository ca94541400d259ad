/**
 * Column types that SQLite and PostgreSQL store alike: text, whole numbers, and nothing else. A `bigint` column is a
 * 64-bit integer in both (SQLite goes by the letters INT in the name). Booleans are 0 and 1, and times are ms since
 * 1970, since neither type is the same in both.
 */
export const COLUMN_TYPE = { text: 'text', integer: 'bigint' } as const;

/**
 * Converts a number out of an aggregate or a `bigint` column: SQLite gives a number, PostgreSQL text, and both null for
 * a sum over nothing, which counts as 0.
 */
export function numberOf(value: number | string | bigint | null | undefined): number {
  return Number(value ?? 0);
}

/**
 * Makes text that both databases can store. PostgreSQL refuses the character of code 0 and half of a surrogate pair,
 * and a name that a caller chose must not become a server error.
 */
export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}

/** How JSON writes what a database would refuse; a caller's text may look like it. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/**
 * Writes JSON in which every text is storable. It searches the JSON as a whole, which is much faster than each text.
 */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!UNSTORABLE.test(json)) return json;
  return JSON.stringify(value, (_name, each: unknown) => (typeof each === 'string' ? storableText(each) : each));
}

/** A value that both databases can bind. SQLite returns such values too. */
export type SqlValue = string | number | bigint | null | Uint8Array;

/** @throws TypeError for what no column holds: the table layer maps such values to text or a number */
export function bindable(value: unknown): SqlValue {
  if (typeof value === 'string') return storableText(value);
  if (value === null || typeof value === 'number' || typeof value === 'bigint') return value;
  if (value instanceof Uint8Array) return value;
  throw new TypeError(`A ${typeof value} cannot be bound: the table layer maps it to text or a number.`);
}
