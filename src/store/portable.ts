/**
 * What tables may be made of so that SQLite and PostgreSQL hold the same: text, whole numbers, and nothing else. A
 * `bigint` column is a 64-bit integer in both (SQLite goes by the letters INT in the name). Booleans are 0 and 1, and
 * times are ms since 1970, since neither type is the same in both.
 */
export const COLUMN_TYPE = { text: 'text', integer: 'bigint' } as const;

/** A boolean as both databases store it. */
export type Flag = 0 | 1;

export function flagOf(value: boolean): Flag {
  return value ? 1 : 0;
}

/**
 * A number out of an aggregate or a `bigint` column: SQLite gives a number, PostgreSQL text, and both null for a sum
 * over nothing, which counts as 0.
 */
export function numberOf(value: number | string | bigint | null | undefined): number {
  return Number(value ?? 0);
}
