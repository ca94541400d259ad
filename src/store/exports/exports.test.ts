import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { Client } from 'pg';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { destinationResource } from '../../resources/destinations.ts';
import { createDestinationStore } from '../accounts/destinations.ts';
import { encodeGeneration, framesOf, GENERATION_COLUMNS } from '../journal/record.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { createRandom, readSeed } from '../../../tests/support/random.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import { createCursors } from './cursors.ts';
import { createExportRows, isBehind, type ExportPosition } from './export-rows.ts';

const START: ExportPosition = { xid: 0, seq: 0 };
const WRITERS = 8;
const ROUNDS = 40;
const FACTS = JSON.stringify({ trace: { tenant: 'blue \u0000 "quoted"' } });

for (const { name, isPostgres, makePlace } of ENGINES)
  suite(`records for destinations: ${name}`, () => {
    async function open(t: TestContext): Promise<{ readonly database: Database; readonly place: Place }> {
      const place = await makePlace();
      const database = await openDatabase({ ...place, clock });
      t.after(async () => {
        await database.close();
        await place.remove();
      });
      return { database, place };
    }

    async function store(database: Database, ids: readonly string[], isSettled = true): Promise<void> {
      const payloads = ids.map((id) => encodeGeneration(sampleGeneration({ id }), 'default', FACTS));
      await database.applyBatch({
        source: { frames: framesOf(payloads) },
        columns: GENERATION_COLUMNS,
        lateBeforeMs: 0,
      });
      if (isSettled) await settled(database);
    }

    /** Of the workspace whose records `store` stores. */
    async function addDestination(database: Database, id: string): Promise<void> {
      const row = destinationResource.newRow({
        id,
        workspaceId: 'workspace-1',
        type: 'webhook',
        name: id,
        sealedConfig: '',
        secretId: '',
        createdAtMs: 0,
        updatedAtMs: 0,
      });
      await createDestinationStore({ database }).insert(row, () => undefined);
    }

    const read = async (database: Database, after = START, limit = 100): Promise<readonly string[]> =>
      (await createExportRows(database).read('workspace-1', after, limit)).map(({ generation }) => generation.id);
    /** An open transaction of any other database of the server holds rows back, and tests run beside others. */
    async function settled(database: Database): Promise<void> {
      const rows = createExportRows(database);
      for (let tries = 0; tries < 400; tries++) {
        const { end } = await rows.findNew(START);
        const last = await rows.end();
        if (!isBehind(end, last)) return;
        await sleep(25);
      }
      assert.fail('rows are still held back');
    }

    test('are stored with their generation, once, and only those that a destination may want', async (t) => {
      const { database } = await open(t);
      await store(database, ['gen-1', 'gen-2']);
      await store(database, ['gen-2', 'gen-3']);
      const unwanted = encodeGeneration(sampleGeneration({ id: 'gen-4' }), 'default');
      await database.applyBatch({
        source: { frames: framesOf([unwanted]) },
        columns: GENERATION_COLUMNS,
        lateBeforeMs: 0,
      });
      assert.deepEqual(await read(database), ['gen-1', 'gen-2', 'gen-3']);
      const rows = createExportRows(database);
      const [first] = await rows.read('workspace-1', START, 1);
      assert.ok(first !== undefined);
      assert.equal(
        first.facts,
        JSON.stringify({ trace: { tenant: 'blue \uFFFD "quoted"' } }).replace('\uFFFD', '\\u0000'),
      );
      assert.deepEqual(first.generation, sampleGeneration({ id: 'gen-1' }));
      assert.equal(first.endedMs, 1_790_000_000_201);
      assert.deepEqual(await read(database, first), ['gen-2', 'gen-3']);
      assert.deepEqual(await rows.read('workspace-2', START, 10), []);
    });

    test('wake their workspace once, and are behind the end of before', async (t) => {
      const { database } = await open(t);
      const rows = createExportRows(database);
      const empty = await rows.findNew(START);
      assert.deepEqual([[...empty.workspaces], empty.end], [[], START]);
      await store(database, ['gen-1']);
      const found = await rows.findNew(empty.end);
      assert.deepEqual([...found.workspaces], ['workspace-1']);
      assert.deepEqual([...(await rows.findNew(found.end)).workspaces], []);
      const end = await rows.end();
      await store(database, ['gen-2']);
      assert.deepEqual([...(await rows.findNew(found.end)).workspaces], ['workspace-1']);
      assert.deepEqual(await read(database, end), ['gen-2']);
      const { count, oldestMs } = await rows.countWaiting('workspace-1', START, 10);
      assert.deepEqual([count, oldestMs], [2, 1_790_000_000_201]);
      assert.equal((await rows.countWaiting('workspace-1', START, 1)).count, 1);
    });

    test('are not passed over when an earlier transaction ends later', { skip: !isPostgres }, async (t) => {
      const { database, place } = await open(t);
      const slow = new Client({ connectionString: place.url });
      await slow.connect();
      await store(database, ['gen-1', 'gen-2']);
      const end = await createExportRows(database).end();
      await slow.query('begin');
      await slow.query(
        `insert into export_rows (record_id, workspace_id, ended_ms, size_bytes, facts) values ('gen-1', 'workspace-1', 1, 2, '{}')`,
      );
      await store(database, ['gen-3'], false);
      assert.deepEqual(await read(database, end), [], 'what is open may come before what is committed');
      await slow.query('commit');
      await slow.end();
      await settled(database);
      assert.deepEqual(await read(database, end), ['gen-1', 'gen-3']);
    });

    test('reach a reader once and in order, however eight writers commit', { skip: !isPostgres }, async (t) => {
      const { database, place } = await open(t);
      const random = createRandom(readSeed());
      const rows = createExportRows(database);
      await store(database, ['gen-1']);
      const over = { count: 0 };
      async function write(): Promise<void> {
        const writer = new Client({ connectionString: place.url });
        await writer.connect();
        for (let round = 0; round < ROUNDS; round++) {
          await writer.query('begin');
          for (let count = random.int(1, 8); count > 0; count--) {
            await writer.query(
              `insert into export_rows (record_id, workspace_id, ended_ms, size_bytes, facts) values ('gen-1', 'workspace-1', 1, 2, '{}')`,
            );
            if (random.chance(0.2)) await sleep(random.int(0, 3));
          }
          await writer.query(random.chance(0.1) ? 'rollback' : 'commit');
        }
        await writer.end();
        over.count++;
      }
      const writing = Promise.all(Array.from({ length: WRITERS }, write));
      const seen: ExportPosition[] = [];
      let at: ExportPosition = await rows.end();
      const readOn = async (): Promise<void> => {
        for (const { xid, seq } of await rows.read('workspace-1', at, 50)) {
          const next = { xid, seq };
          assert.ok(isBehind(at, next), 'rows come in order');
          seen.push(next);
          at = next;
        }
      };
      while (over.count < WRITERS) await readOn();
      await writing;
      await settled(database);
      for (let before = -1; before < seen.length;) {
        before = seen.length;
        await readOn();
      }
      const stored = await database.kysely.selectFrom('export_rows').select('seq').execute();
      assert.equal(stored.length - 1, seen.length, `none is missed (FUZZ_SEED=${readSeed()})`);
      assert.equal(new Set(seen.map(({ seq }) => seq)).size, seen.length);
      assert.ok(seen.length > WRITERS * ROUNDS);
    });

    test('are deleted up to a place, or the oldest first', async (t) => {
      const { database } = await open(t);
      const rows = createExportRows(database);
      await store(database, ['gen-1', 'gen-2', 'gen-3', 'gen-4']);
      const [, second] = await rows.read('workspace-1', START, 2);
      assert.ok(second !== undefined);
      assert.equal(await rows.removeThrough('workspace-2', second, 10), 0);
      assert.equal(await rows.removeThrough('workspace-1', second, 10), 2);
      assert.deepEqual(await read(database), ['gen-3', 'gen-4']);
      assert.deepEqual(await rows.measure(), { workspaces: ['workspace-1'], bytes: 2 * FACTS.length });
      assert.equal(await rows.remove(await rows.oldest(1)), 1);
      assert.deepEqual(await read(database), ['gen-4']);
      assert.equal(await rows.remove([]), 0);
    });

    // @spec destination-20
    test(
      'go on where they stopped in a database of another cluster, and lose none',
      { skip: !isPostgres },
      async (t) => {
        const { database } = await open(t);
        const [rows, cursors] = [createExportRows(database), createCursors(database)];
        await store(database, ['gen-1', 'gen-2', 'gen-3']);
        const [first] = await rows.read('workspace-1', START, 1);
        assert.ok(first !== undefined);
        await addDestination(database, 'd');
        await cursors.open('d', first);
        assert.equal(await rows.mendPositions(), false, 'nothing is foreign');
        // The other cluster was far ahead.
        await database.kysely
          .updateTable('export_rows')
          .set({ xid: sql`xid + 1000000000` })
          .execute();
        await database.kysely
          .updateTable('destination_cursors')
          .set({ xid: sql`xid + 1000000000` })
          .execute();
        await cursors.take('d', 'sleeper', 60_000);
        await store(database, ['gen-4'], false);
        assert.equal(await rows.mendPositions(), true);
        assert.equal(
          await cursors.save('d', 'sleeper', first, { xid: 1, seq: 1 }),
          false,
          'a sender from before stores nothing',
        );
        const cursor = (await cursors.find(['d'])).get('d');
        assert.deepEqual([cursor?.xid, cursor?.seq, cursor?.holder], [0, first.seq, null]);
        await settled(database);
        assert.deepEqual(await read(database, cursor), ['gen-2', 'gen-3', 'gen-4']);
        assert.equal(await rows.mendPositions(await rows.end()), false);
        assert.equal(await rows.mendPositions({ xid: first.xid + 1_000_000_000, seq: 1 }), true, 'it is remembered');
      },
    );

    test(
      'repeat records of another cluster whose order was another, and lose none',
      { skip: !isPostgres },
      async (t) => {
        const { database } = await open(t);
        const [rows, cursors] = [createExportRows(database), createCursors(database)];
        await store(database, ['gen-1', 'gen-2', 'gen-3']);
        await addDestination(database, 'd');
        // The transaction of the first began last: it was not sent yet, although the third was.
        const stored = await rows.read('workspace-1', START, 3);
        const far = 1_000_000_000;
        for (const [index, xid] of [far + 9, far + 1, far + 2].entries())
          await database.kysely
            .updateTable('export_rows')
            .set({ xid })
            .where('seq', '=', stored[index]?.seq ?? 0)
            .execute();
        await cursors.open('d', { xid: far + 2, seq: stored[2]?.seq ?? 0 });
        assert.equal(await rows.mendPositions(), true);
        assert.deepEqual(await read(database, (await cursors.find(['d'])).get('d')), ['gen-1', 'gen-2', 'gen-3']);
      },
    );

    test('one process sends at a time, and a process that lost its turn stores nothing', async (t) => {
      const { database } = await open(t);
      const cursors = createCursors(database);
      assert.equal(await cursors.take('d', 'one', 60_000), undefined, 'there is no row');
      await cursors.open('d', { xid: 3, seq: 4 });
      await cursors.open('d', { xid: 9, seq: 9 });
      const taken = await cursors.take('d', 'one', 60_000);
      assert.deepEqual([taken?.xid, taken?.seq, taken?.state, taken?.holder], [3, 4, 'ok', 'one']);
      assert.equal(await cursors.take('d', 'other', 60_000), undefined);
      assert.ok(await cursors.take('d', 'one', -60_000), 'and may take it again');
      assert.ok(await cursors.take('d', 'other', 60_000), 'its time is over');
      const from = { xid: 3, seq: 4 };
      assert.equal(await cursors.save('d', 'one', from, { seq: 5 }), false);
      const lastError = { atMs: 1, status: 503, message: 'busy' };
      assert.equal(
        await cursors.save(
          'd',
          'other',
          from,
          { seq: 6, lastError, state: 'failing' },
          { sent: 2, failed: 1, dropped: 0 },
        ),
        true,
      );
      assert.equal(await cursors.save('d', 'other', from, { seq: 7 }), false, 'it is not there any more');
      const row = (await cursors.find(['d', 'e'])).get('d');
      assert.deepEqual([row?.seq, row?.sent, row?.state, row?.lastError], [6, 2, 'failing', lastError]);
      assert.equal(await cursors.skip('d', from, { xid: 3, seq: 8 }, 7), false);
      assert.equal(await cursors.skip('d', { xid: 3, seq: 6 }, { xid: 3, seq: 8 }, 7), true);
      const [sent, at] = [
        { sent: 1, failed: 0, dropped: 1 },
        { xid: 3, seq: 8 },
      ];
      assert.equal(await cursors.save('d', 'other', { xid: 3, seq: 6 }, { seq: 9 }, sent), false, 'it was given up');
      assert.equal(await cursors.save('d', 'other', at, { seq: 9 }, sent), true);
      await cursors.release('d', 'other');
      const again = await cursors.take('d', 'one', 60_000);
      assert.deepEqual([again?.seq, again?.sent, again?.failed, again?.dropped], [9, 3, 1, 8]);
      await cursors.reset('d');
      const reset = (await cursors.find(['d'])).get('d');
      assert.deepEqual([reset?.state, reset?.lastError, reset?.holder], ['ok', null, 'one']);
      await cursors.remove('d');
      assert.deepEqual(await cursors.all(), []);
    });
  });
