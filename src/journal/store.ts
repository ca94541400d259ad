import type { ApplyBatch } from './batch.ts';

/** What a journal needs of the database that its records are for. */
export interface JournalStore {
  /** The random id of the database. A backup that is restored gets another one. */
  readonly databaseId: string;
  /** The names of the values that records of this version have. */
  readonly columns: readonly string[];
  readonly apply: ApplyBatch;
  /** The positions up to which streams are stored; of a stream that is not there nothing is. */
  readCheckpoints(streams: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** No file of the stream is left. */
  dropCheckpoint(stream: string): Promise<void>;
}
