import type { Kysely, Transaction } from 'kysely';
import type { ApplyBatch } from '../../journal/batch.ts';
import type { Tables } from '../tables.ts';

/** Tasks of which only one may run at a time, over all processes on one database. */
export type LockName =
  | 'migrations'
  | 'first-keys'
  | 'refund'
  | 'destinations'
  | 'export-positions'
  | 'usage-progress'
  | 'people'
  | 'notification channels'
  | 'mcp clients'
  | 'classifiers';

/** Runs a task in a transaction while no other task runs under the same name. */
export type RunAlone = <Value>(
  name: LockName,
  task: (transaction: Transaction<Tables>) => Promise<Value>,
) => Promise<Value>;

export type Patient = Pick<Engine, 'kysely' | 'runAlone'>;

/** Reads everything as it was at one moment, for minutes if need be, and delays no other query. */
export type ReadSnapshot = <Value>(task: (transaction: Transaction<Tables>) => Promise<Value>) => Promise<Value>;

/** What differs between the databases that can hold the gateway's tables. Everything else is portable Kysely. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  /** A query outside a transaction is committed before its promise settles. */
  readonly kysely: Kysely<Tables>;
  /** For long reads: they delay no charge. */
  readonly reports: Kysely<Tables>;
  /**
   * For writes that are sent again: while another process writes they fail after a tenth of a second, since every read that
   * comes meanwhile waits with them.
   */
  readonly background: Kysely<Tables>;
  readonly runAlone: RunAlone;
  /** The same database with minutes instead of seconds for each statement; it is closed afterwards. */
  readonly withPatience: <Value>(task: (patient: Patient) => Promise<Value>) => Promise<Value>;
  readonly applyBatch: ApplyBatch;
  /** Settles once the database answers. @throws DatabaseError when it does not work */
  ping(): Promise<void>;
  /** Finishes accepted work and closes. */
  close(): Promise<void>;
}
