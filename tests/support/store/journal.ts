import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openJournal, type Journal, type JournalOptions } from '../../../src/journal/journal.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Database } from '../../../src/store/engine/database.ts';
import { takeLock } from '../../../src/store/engine/sqlite/claim.ts';
import type { GenerationRow } from '../../../src/store/generations/columns.ts';
import type { JournalStore } from '../../../src/journal/store.ts';
import { openJournalStore } from '../../../src/store/journal/checkpoints.ts';
import { encodeGeneration } from '../../../src/store/journal/record.ts';

const MB = 1_048_576;

export interface TestJournal extends Journal {
  readonly folder: string;
  /** What was reported, in words. */
  readonly reported: readonly string[];
  record(row: GenerationRow): Promise<void>;
  /** Settles when all records are stored, however long that takes. */
  settled(): Promise<void>;
}

export type TestJournalOptions = Partial<
  Pick<
    JournalOptions,
    | 'folder'
    | 'durability'
    | 'disk'
    | 'clock'
    | 'bytesMax'
    | 'lagMs'
    | 'store'
    | 'takeLock'
    | 'applyEarlier'
    | 'closeMsMax'
  >
>;

export async function makeJournalFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'journal-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A journal as the gateway opens it; the test closes it. */
export async function openTestJournal(
  t: TestContext,
  database: Database,
  options: TestJournalOptions = {},
): Promise<TestJournal> {
  const folder = options.folder ?? (await makeJournalFolder(t));
  const reported: string[] = [];
  const journal = await openJournal({
    store: await openJournalStore(database),
    durability: 'process',
    bytesMax: 64 * MB,
    lagMs: 600_000,
    takeLock,
    applyEarlier: () => Promise.resolve(),
    clock: systemClock,
    reports: {
      onDiskStuck: (isStuck) => reported.push(isStuck ? 'disk stuck' : 'disk free'),
      onStoreStuck: (isStuck) => reported.push(isStuck ? 'store stuck' : 'store free'),
      onApplied: () => undefined,
      onLost: (payload, reason) => reported.push(`lost ${idOf(payload)}: ${reason}`),
      onDamaged: (_segment, { length }) => reported.push(`damaged ${length}`),
      onUnusable: (_segment, problem) => reported.push(`unusable: ${problem}`),
      onLate: () => reported.push('late'),
      onNoLocks: () => reported.push('no locks'),
    },
    ...options,
    folder,
  });
  return Object.assign(journal, {
    folder,
    reported,
    record: (row: GenerationRow) => journal.append(encodeGeneration(row, 'default')),
    async settled() {
      for (;;) {
        const caughtUp = journal.caughtUp();
        if (caughtUp === undefined) return;
        // It gives a reader up after a while.
        await caughtUp.catch(() => undefined);
      }
    },
  });
}

/** Leaves records as a process that is killed: nothing is applied, and its lock is free. */
export async function writeAndVanish(
  t: TestContext,
  database: Database,
  folder: string,
  rows: readonly GenerationRow[],
): Promise<void> {
  const store: JournalStore = {
    ...(await openJournalStore(database)),
    apply: () => Promise.reject(new Error('killed')),
    dropCheckpoint: () => Promise.resolve(),
  };
  const journal = await openTestJournal(t, database, { folder, store, takeLock: () => 'unknown', closeMsMax: 0 });
  for (const row of rows) await journal.record(row);
  await journal.close();
}

/** The files of journals in a folder. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name !== 'adoption.lock');
}

/** Stores what processes that are gone have left in the data directory. */
export async function applyLeftJournals(database: Database, dataDir: string): Promise<void> {
  const journal = await openJournal({
    folder: join(dataDir, 'journal'),
    store: await openJournalStore(database),
    durability: 'process',
    bytesMax: 1024 * MB,
    lagMs: 600_000,
    takeLock,
    applyEarlier: () => Promise.resolve(),
    clock: systemClock,
    reports: {
      onDiskStuck: (_isStuck, error) => assert.ifError(error),
      onStoreStuck: (_isStuck, error) => assert.ifError(error),
      onApplied: () => undefined,
      onLost: (payload, reason) => assert.fail(`lost ${payload}: ${reason}`),
      onDamaged: ({ path }) => assert.fail(`damaged ${path}`),
      onUnusable: ({ path }, problem) => assert.fail(`${path}: ${problem}`),
      onLate: () => undefined,
      onNoLocks: () => undefined,
    },
  });
  await journal.start();
  await journal.close();
}

/** The id of a generation in its record. */
function idOf(payload: string): string {
  return /"(gen-[^"]+)"/.exec(payload)?.[1] ?? payload;
}

/** The ids of stored generations, in their order. */
export async function storedIds(database: Database): Promise<readonly string[]> {
  const rows = await database.kysely.selectFrom('generations').select('id').orderBy('id').execute();
  return rows.map(({ id }) => id);
}

/** Fails unless each generation has one entry, and the sums of spending are those of the entries. */
export async function mustAgree(database: Database): Promise<void> {
  const { kysely } = database;
  const one = async (query: { executeTakeFirstOrThrow(): Promise<{ readonly n: number | string | null }> }) =>
    Number((await query.executeTakeFirstOrThrow()).n ?? 0);
  const generations = await one(
    kysely.selectFrom('generations').select(({ fn }) => fn.sum<number>('cost_nano_usd').as('n')),
  );
  const entries = await one(
    kysely.selectFrom('ledger_entries').select(({ fn }) => fn.sum<number>('amount_nano_usd').as('n')),
  );
  const spend = await one(
    kysely
      .selectFrom('spend')
      .where('subject', '=', 'account:default')
      .where('is_byok', '=', 0)
      .select(({ fn }) => fn.sum<number>('nano_usd').as('n')),
  );
  assert.deepEqual([-entries, spend], [generations, generations], 'charges, sums and generations agree');
}
