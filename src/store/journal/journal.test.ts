import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, suite, test, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { systemDisk } from '../../journal/disk.ts';
import { listSegments, SEGMENT_BYTES } from '../../journal/segments.ts';
import type { JournalStore } from '../../journal/store.ts';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { takeLock } from '../engine/sqlite/claim.ts';
import { readUsageProgress } from '../usage/usage-progress.ts';
import { openJournalStore } from './checkpoints.ts';
import { encodeGeneration, GENERATION_COLUMNS } from './record.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import {
  filesIn,
  makeJournalFolder,
  mustAgree,
  openTestJournal,
  storedIds,
  writeAndVanish,
  type TestJournal,
} from '../../../tests/support/store/journal.ts';

const TABLES = ['generations', 'ledger_entries', 'spend', 'journal_checkpoints', 'usage_progress'] as const;

function rowOf(number: number) {
  const id = `gen-${String(number).padStart(5, '0')}`;
  return sampleGeneration({ id, costNanoUsd: number, listCostNanoUsd: null });
}

const idsTo = (count: number) => Array.from({ length: count }, (_, at) => rowOf(at + 1).id);

for (const { name, isPostgres, makePlace } of ALL_ENGINES)
  suite(`journal: ${name}`, () => {
    let database: Database;
    let place: Place;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });
    const clear = async (): Promise<void> => {
      for (const table of TABLES) await sql`delete from ${sql.table(table)}`.execute(database.kysely);
    };
    const recover = async (t: TestContext, folder: string): Promise<TestJournal> => {
      const journal = await openTestJournal(t, database, { folder });
      await journal.start();
      return journal;
    };

    test('stores what was appended, once a reader waits for it', async (t) => {
      await clear();
      const journal = await openTestJournal(t, database);
      await Promise.all([1, 2, 3].map((number) => journal.record(rowOf(number))));
      await journal.caughtUp();
      assert.deepEqual(await storedIds(database), idsTo(3));
      await mustAgree(database);
      assert.equal(journal.caughtUp(), undefined);
      await journal.close();
      assert.deepEqual(await filesIn(journal.folder), []);
      assert.deepEqual(journal.reported, []);
    });

    test('stores several segments of records, and removes each that is stored', async (t) => {
      await clear();
      const journal = await openTestJournal(t, database);
      const errorMessage = 'x'.repeat(60_000);
      const count = Math.ceil((2.5 * SEGMENT_BYTES) / errorMessage.length);
      for (let number = 1; number <= count; number++) await journal.record({ ...rowOf(number), errorMessage });
      await journal.settled();
      assert.deepEqual(await storedIds(database), idsTo(count));
      await mustAgree(database);
      const left = await listSegments(journal.folder);
      assert.ok(left.length <= 2, `${left.length} segments are left`);
      await journal.close();
      assert.deepEqual(await filesIn(journal.folder), []);
    });

    test('stores what a process left that is gone, once, and removes its files', async (t) => {
      await clear();
      const folder = await makeJournalFolder(t);
      await writeAndVanish(t, database, folder, [1, 2].map(rowOf));
      await writeAndVanish(t, database, folder, [3].map(rowOf));
      const journal = await recover(t, folder);
      assert.deepEqual(await storedIds(database), idsTo(3));
      await mustAgree(database);
      await journal.close();
      assert.deepEqual(await filesIn(folder), []);
      const { rows } = await sql`select * from journal_checkpoints`.execute(database.kysely);
      assert.deepEqual(rows, []);
    });

    test('leaves the journal of a process that lives', async (t) => {
      await clear();
      const folder = await makeJournalFolder(t);
      const store: JournalStore = {
        ...(await openJournalStore(database)),
        apply: () => Promise.reject(new Error('it is slow')),
      };
      const alive = await openTestJournal(t, database, { folder, store, closeMsMax: 0 });
      await alive.record(rowOf(1));
      const other = await recover(t, folder);
      assert.deepEqual(await storedIds(database), []);
      await other.close();
      assert.ok((await listSegments(folder)).length > 0);
      await alive.close();
    });

    test('stores nothing twice that was stored before the process was gone', async (t) => {
      await clear();
      const folder = await makeJournalFolder(t);
      await writeAndVanish(t, database, folder, [1, 2, 3].map(rowOf));
      const copies = await Promise.all(
        (await listSegments(folder)).map(async ({ path }) => ({ path, bytes: await readFile(path) })),
      );
      await (await recover(t, folder)).close();
      // As if the files had outlived the commit: once with its checkpoint, once without.
      for (const { path, bytes } of copies) await writeFile(path, bytes);
      await (await recover(t, folder)).close();
      assert.deepEqual(await storedIds(database), idsTo(3));
      await mustAgree(database);
    });

    test('cuts off a torn last frame', async (t) => {
      await clear();
      const folder = await makeJournalFolder(t);
      await writeAndVanish(t, database, folder, [1, 2].map(rowOf));
      await changeLast(folder, (bytes, end) => bytes.fill(0, end - 100, end));
      const journal = await recover(t, folder);
      assert.deepEqual(await storedIds(database), idsTo(1));
      assert.deepEqual(journal.reported, []);
      await journal.close();
    });

    for (const [which, left] of [
      [0, [2, 3]],
      [1, [1, 3]],
      [2, [1, 2]],
    ] as const)
      test(`sets record ${which + 1} of 3 aside whose bit has flipped, and stores the others`, async (t) => {
        await clear();
        const folder = await makeJournalFolder(t);
        await writeAndVanish(t, database, folder, [1, 2, 3].map(rowOf));
        let length = 0;
        await changeLast(folder, (bytes, end, starts) => {
          const start = starts[which + 1] ?? 0;
          length = (starts[which + 2] ?? end) - start;
          bytes.writeUInt8(bytes.readUInt8(start + 50) ^ 4, start + 50);
        });
        const journal = await recover(t, folder);
        assert.deepEqual(
          await storedIds(database),
          left.map((number) => rowOf(number).id),
        );
        assert.deepEqual(journal.reported, [`damaged ${length}`]);
        assert.equal(journal.status().damaged, 1);
        const [file = ''] = await readdir(join(folder, 'damaged'));
        assert.equal((await stat(join(folder, 'damaged', file))).size, length);
        await journal.close();
      });

    test('leaves and reports the journal of another database', async (t) => {
      await clear();
      const folder = await makeJournalFolder(t);
      const store = { ...(await openJournalStore(database)), databaseId: 'another' };
      const other = await openTestJournal(t, database, {
        folder,
        store: { ...store, apply: () => Promise.reject(new Error('killed')) },
        takeLock: () => 'unknown',
        closeMsMax: 0,
      });
      await other.record(rowOf(1));
      await other.close();
      const journal = await recover(t, folder);
      assert.ok(journal.reported.every((each) => each === 'unusable: other-database'));
      assert.ok(journal.reported.length > 0);
      assert.deepEqual(await storedIds(database), []);
      await journal.close();
      assert.ok((await listSegments(folder)).length > 0);
    });

    test('stores records of a version that has fewer columns', async (t) => {
      await clear();
      const folder = await makeJournalFolder(t);
      const dropped = GENERATION_COLUMNS.indexOf('country');
      const store: JournalStore = {
        ...(await openJournalStore(database)),
        columns: GENERATION_COLUMNS.toSpliced(dropped, 1),
        apply: () => Promise.reject(new Error('killed')),
      };
      const earlier = await openTestJournal(t, database, { folder, store, takeLock: () => 'unknown', closeMsMax: 0 });
      const [kind, values, accountId] = JSON.parse(encodeGeneration(rowOf(7), 'default')) as [
        number,
        unknown[],
        string,
      ];
      await earlier.append(JSON.stringify([kind, values.toSpliced(dropped, 1), accountId]));
      await earlier.close();
      const journal = await recover(t, folder);
      assert.deepEqual(
        await database.kysely.selectFrom('generations').select(['id', 'country', 'cost_nano_usd']).execute(),
        [{ id: rowOf(7).id, country: null, cost_nano_usd: 7 }],
      );
      await mustAgree(database);
      assert.deepEqual(journal.reported, []);
      await journal.close();
    });

    test('reports a record that the database refuses, and stores its neighbours', async (t) => {
      await clear();
      const journal = await openTestJournal(t, database);
      const broken = rowOf(2);
      // The types forbid this; a fault in the gateway might do it.
      Reflect.set(broken, 'region', null);
      await Promise.all([rowOf(1), broken, rowOf(3)].map((row) => journal.record(row)));
      await journal.settled();
      assert.deepEqual(await storedIds(database), ['gen-00001', 'gen-00003']);
      await mustAgree(database);
      assert.equal(journal.reported.length, 1);
      assert.match(
        journal.reported[0] ?? '',
        /^lost gen-00002: .*(NOT NULL constraint failed: generations.region|null value in column "region")/,
      );
      await journal.close();
    });

    test('has the hours of a late record summed up again, in one transaction with it', async (t) => {
      await clear();
      const [hourMs, dayMs] = [3_600_000, 86_400_000];
      await database.kysely
        .insertInto('usage_progress')
        .values([
          { name: 'hourly', done_until_ms: 500 * dayMs },
          { name: 'daily', done_until_ms: 500 * dayMs },
        ])
        .execute();
      const journal = await openTestJournal(t, database);
      await journal.record({ ...rowOf(1), createdAtMs: 400 * dayMs + 5 * hourMs + 7 });
      await journal.caughtUp();
      const progress = { hourlyMs: 400 * dayMs + 5 * hourMs, dailyMs: 400 * dayMs, setBackCount: 1 };
      assert.deepEqual(await readUsageProgress(database), progress);
      await journal.record({ ...rowOf(2), createdAtMs: Date.now() });
      await journal.caughtUp();
      assert.deepEqual(await readUsageProgress(database), progress);
      await journal.close();
    });

    if (!isPostgres)
      test('waits for a database that takes no writes, and loses nothing', async (t) => {
        await clear();
        // Inside a transaction that writes nothing, since no other one begins any more.
        const setReadOnly = (isOn: boolean) =>
          database.kysely
            .transaction()
            .setAccessMode('read only')
            .execute((transaction) => sql.raw(`pragma query_only = ${isOn}`).execute(transaction));
        const journal = await openTestJournal(t, database);
        await setReadOnly(true);
        for (let number = 1; number <= 50; number++) await journal.record(rowOf(number));
        await assert.rejects(async () => journal.caughtUp(), /Records wait to be stored/);
        assert.ok(journal.status().behindMs > 1_000);
        await setReadOnly(false);
        await journal.settled();
        assert.deepEqual(await storedIds(database), idsTo(50));
        assert.deepEqual(journal.reported, ['store stuck', 'store free']);
        await journal.close();
      });
  });

test('has no room where the journals take all that they may', async (t) => {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const journal = await openTestJournal(t, database, { bytesMax: SEGMENT_BYTES });
  while (!journal.reported.includes('disk stuck')) await new Promise(setImmediate);
  let taken = 0;
  while (journal.takeRoom()) taken++;
  assert.ok(taken > 900 && taken < 1_100, `${taken} requests have room`);
  assert.ok(journal.status().isFull);
  journal.returnRoom();
  assert.ok(journal.takeRoom());
  await journal.close();
});

test('waits for the database before a response ends, and for the disk alone where that takes too long', async (t) => {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const opened = await openJournalStore(database);
  let isAway = false;
  let syncs = 0;
  const journal = await openTestJournal(t, database, {
    durability: 'database',
    store: { ...opened, apply: (batch) => (isAway ? Promise.reject(new Error('away')) : opened.apply(batch)) },
    disk: { ...systemDisk, sync: (fd) => (syncs++, systemDisk.sync(fd)) },
  });
  await journal.record(rowOf(1));
  assert.deepEqual(await storedIds(database), idsTo(1));
  isAway = true;
  const syncsBefore = syncs;
  await journal.record(rowOf(2));
  assert.ok(syncs > syncsBefore, 'the record is on the disk');
  assert.ok(journal.status().isLate);
  isAway = false;
  await journal.settled();
  assert.equal(journal.status().isLate, false);
  assert.deepEqual(await storedIds(database), idsTo(2));
  assert.deepEqual(journal.reported, ['store stuck', 'late', 'store free']);
  await journal.close();
});

test('names the folder that cannot be written', async (t) => {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const folder = await makeJournalFolder(t);
  const file = join(folder, 'file');
  await writeFile(file, '');
  await assert.rejects(openTestJournal(t, database, { folder: join(file, 'journal'), takeLock }), /ENOTDIR/);
});

/** Changes the bytes of the segment that has records, given where its last frame ends and where each begins. */
async function changeLast(
  folder: string,
  change: (bytes: Buffer, end: number, starts: readonly number[]) => void,
): Promise<void> {
  for (const { path } of await listSegments(folder)) {
    const bytes = await readFile(path);
    const starts: number[] = [];
    for (let at = bytes.indexOf('GJF1'); at !== -1; at = bytes.indexOf('GJF1', at + 1)) starts.push(at);
    if (starts.length < 2) continue;
    const last = starts.at(-1) ?? 0;
    change(bytes, last + 12 + bytes.readUInt32LE(last + 4), starts);
    await writeFile(path, bytes);
  }
}
