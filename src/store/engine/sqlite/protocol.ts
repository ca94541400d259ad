import type { AppliedBatch, JournalBatch } from '../../../journal/batch.ts';
import type { DatabaseFault } from '../database-error.ts';
import type { SqlValue } from '../../portable.ts';

type SqlRow = Readonly<Record<string, SqlValue>>;

/** One statement, or a batch of a journal. A `late-write` is sent again, and so waits for no other writer. */
export type SqliteJob =
  | { readonly kind: 'read' | 'write' | 'late-write'; readonly sql: string; readonly values: readonly SqlValue[] }
  | { readonly kind: 'apply'; readonly batch: JournalBatch };

/**
 * A message to the database thread. `group`: reads see what was committed before; then all writes run in one
 * transaction. `inside`: jobs of a transaction that the sender has begun and will end. The thread answers in order.
 */
export type SqliteMessage =
  | { readonly kind: 'group' | 'inside'; readonly jobs: readonly SqliteJob[] }
  | { readonly kind: 'rollback' }
  | { readonly kind: 'open'; readonly path: string }
  /** The thread ends unless another file will be opened in it. */
  | { readonly kind: 'close'; readonly isReused: boolean };

export interface SqliteJobDone {
  readonly rows: readonly SqlRow[];
  readonly changes: number;
  /** Of kind `apply`. */
  readonly applied?: AppliedBatch;
}

export type SqliteResult = { readonly done: SqliteJobDone } | { readonly fault: DatabaseFault };

/** One result a job, in the order of the jobs. Each file begins with `open`, and ends with `closed`. */
export type SqliteReply =
  | { readonly kind: 'open'; readonly fault?: DatabaseFault }
  | { readonly kind: 'results'; readonly results: readonly SqliteResult[] }
  | { readonly kind: 'closed'; readonly fault?: DatabaseFault };
