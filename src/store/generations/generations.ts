import { createHousekeeping } from '../../lib/async/housekeeping.ts';
import { createAppendQueue } from './append-queue.ts';
import { DatabaseError } from '../engine/database-error.ts';
import type { Database } from '../engine/database.ts';
import { generationRows, type GenerationRow } from './columns.ts';
import { parseSettlements, type Settlement } from './settlement.ts';
import { openSpool } from './spool.ts';
import { sumUpAgain } from '../usage/usage-rollup.ts';

/** The ledger entries and spending of a generation. */
export type Charges = Pick<Settlement, 'entries' | 'spend'>;

const { toColumns, toRow } = generationRows;

const NO_CHARGES: Charges = { entries: [], spend: [] };

export interface GenerationStore {
  /**
   * Settles when the row is on the disk, or when it was given up and `onLost` was called; it never rejects. It may wait
   * as long as the database is away, so code with a waiting caller needs a time limit of its own. Row and charges are
   * stored together; where the row's id is stored already nothing changes.
   */
  append(row: GenerationRow, charges?: Charges): Promise<void>;
  find(id: string): Promise<GenerationRow | undefined>;
  /** Counts the rows that are neither stored nor given up: those in memory, and those in spool files. */
  pending(): number;
  /** Begins to store the spool files of this process and of earlier ones. */
  start(): void;
  /** Whether the database, though it may answer, lacks rows that it should have by now: its sums are too low. */
  isBehind(): boolean;
  /** Stores pending rows, keeps them in files, or gives them up. Must be called before the database closes. */
  close(): Promise<void>;
}

export interface GenerationStoreOptions {
  readonly database: Database;
  /** Where rows are kept while the database does not take them. Absent: nowhere. */
  readonly spool?: SpoolPlace;
  /** Called once for each row that could not be stored: the last chance to write it somewhere. Must not throw. */
  readonly onLost: (row: GenerationRow, error: Error) => void;
  /** Called when rows begin to wait for a database that is away, and when it takes them again. Must not throw. */
  readonly onStuck?: (isStuck: boolean, error?: unknown) => void;
  /** Waits between tries of a batch that failed, ms. */
  readonly retryDelaysMs?: readonly number[];
  /** Rows that may wait; one more is given up at once. */
  readonly pendingMax?: number;
}

export interface SpoolPlace {
  readonly folder: string;
  readonly nowMs: () => number;
  /** Called when a file without rows was set aside. Must not throw. */
  readonly onUnreadable: (file: string) => void;
  /** Called when rows cannot be stored and the database is not the reason. Must not throw. */
  readonly onFailed: (error: unknown) => void;
}

/** The time between two tries to store the spool files. */
const DRAIN_EVERY_MS = 1_000;

/** A row that is encoded when it is appended, while the batch before is being stored. */
interface PendingRow {
  readonly row: GenerationRow;
  readonly settlement: Settlement;
}

export function createGenerationStore(options: GenerationStoreOptions): GenerationStore {
  const { database, onLost, onStuck, retryDelaysMs, pendingMax } = options;
  const spool = options.spool && openSpool({ ...options.spool, read: parseSettlements });
  const { kysely } = database;
  const queue = createAppendQueue<PendingRow>({
    async appendBatch(rows) {
      const refused = await database.appendSettlements(rows.map(({ settlement }) => settlement));
      return refused.map(({ index, fault }) => ({ index, error: new DatabaseError(fault) }));
    },
    isTransient,
    ...(spool !== undefined && { keep: (rows) => spool.keep(rows.map(({ settlement }) => settlement)) }),
    onLost: ({ row }, error) => onLost(row, error),
    ...(onStuck !== undefined && { onStuck }),
    ...(retryDelaysMs !== undefined && { retryDelaysMs }),
    ...(pendingMax !== undefined && { itemsMax: pendingMax }),
  });
  const storeKept = async (kept: readonly Settlement[]): Promise<void> => {
    for (const { index, fault } of await database.appendSettlements(kept)) {
      const settlement = kept[index];
      if (settlement !== undefined) onLost(toRow(settlement.generation), new DatabaseError(fault));
    }
    await sumUpAgain(database, Math.min(...kept.map(({ generation }) => generation.created_at_ms)));
  };
  const drains = createHousekeeping({
    async work() {
      if (spool !== undefined && spool.count() > 0) await spool.drain(storeKept);
      return false;
    },
    everyMs: DRAIN_EVERY_MS,
    pauseMs: 0,
    onFailed(error) {
      // A transient error was reported already by `onStuck`, and the next round tries again.
      if (!isTransient(error)) options.spool?.onFailed(error);
    },
  });
  return {
    start: () => drains.start(),
    append: (row, charges = NO_CHARGES) =>
      queue.append({ row, settlement: { generation: toColumns(row), ...charges } }),
    async find(id) {
      const columns = await kysely.selectFrom('generations').selectAll().where('id', '=', id).executeTakeFirst();
      return columns && toRow(columns);
    },
    pending: () => queue.pending() + (spool?.count() ?? 0),
    isBehind: () => queue.isBehind() || (spool !== undefined && spool.count() > 0),
    async close() {
      await drains.stop();
      await queue.close();
    },
  };
}

function isTransient(error: unknown): boolean {
  return error instanceof DatabaseError && error.transient;
}
