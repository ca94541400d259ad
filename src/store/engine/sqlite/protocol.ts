import type { DatabaseFault } from '../database-error.ts';
import type { SqlValue } from '../../portable.ts';
import type { RefusedSettlement } from '../../generations/settlement.ts';

type SqlRow = Readonly<Record<string, SqlValue>>;

/** A JSON value without structure. */
export type SettledValue = string | number | null;

/**
 * The rows of one settlement, in the order of the columns of the job's statements; entries and spending one after the
 * other.
 */
export interface SettledLists<List> {
  readonly generation: List;
  readonly entries: List;
  /** For each sum: subject, start of the day, whether with a caller's own credential, nano-USD. */
  readonly spend: List;
}

/** One statement, or a batch of settlements with the statements that store it. */
export type SqliteJob =
  | { readonly kind: 'read' | 'write'; readonly sql: string; readonly values: readonly SqlValue[] }
  | {
      readonly kind: 'settle';
      readonly addGeneration: string;
      readonly addEntry: string;
      readonly addSpend: string;
      /** The number of columns of an entry. */
      readonly entryWidth: number;
      /** JSON: `SettledLists` of `Changes`, each list against that of the settlement before. */
      readonly settlements: string;
    };

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
  /** Kind `settle`: the refused settlements. The others are committed. */
  readonly refused: readonly RefusedSettlement[];
}

export type SqliteResult = { readonly done: SqliteJobDone } | { readonly fault: DatabaseFault };

/** One result a job, in the order of the jobs. Each file begins with `open`, and ends with `closed`. */
export type SqliteReply =
  | { readonly kind: 'open'; readonly fault?: DatabaseFault }
  | { readonly kind: 'results'; readonly results: readonly SqliteResult[] }
  | { readonly kind: 'closed'; readonly fault?: DatabaseFault };
