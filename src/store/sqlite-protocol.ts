import type { DatabaseFault } from './database-error.ts';

/** A value that SQLite can bind or return. */
export type SqlValue = string | number | bigint | null | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** One statement, or one statement once for each row of values. */
export type SqliteJob =
  | { readonly kind: 'read' | 'write'; readonly sql: string; readonly values: readonly SqlValue[] }
  | { readonly kind: 'many'; readonly sql: string; readonly rows: readonly (readonly SqlValue[])[] };

/**
 * What the database thread is told. `group`: reads see what was committed before; then all writes in one transaction.
 * `inside`: jobs of a transaction that the other side has begun and will end. Answered in order.
 */
export type SqliteMessage =
  | { readonly kind: 'group' | 'inside'; readonly jobs: readonly SqliteJob[] }
  | { readonly kind: 'rollback' }
  | { readonly kind: 'close' };

export interface SqliteJobDone {
  readonly rows: readonly SqlRow[];
  readonly changes: number;
  /** Kind `many`: rows that were refused, by index. The others are committed. */
  readonly refused: readonly { readonly index: number; readonly fault: DatabaseFault }[];
}

export type SqliteResult = { readonly done: SqliteJobDone } | { readonly fault: DatabaseFault };

/** One result a job, in the order of the jobs. The first reply, without a message, says `open`. */
export type SqliteReply =
  | { readonly kind: 'open'; readonly fault?: DatabaseFault }
  | { readonly kind: 'results'; readonly results: readonly SqliteResult[] }
  | { readonly kind: 'closed'; readonly fault?: DatabaseFault };
