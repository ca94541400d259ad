import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { sql } from 'kysely';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { DatabaseError } from '../engine/database-error.ts';
import { generationRows, type GenerationRow } from '../generations/columns.ts';
import { createKeyStore } from '../accounts/keys.ts';
import { parseSettlements, type Settlement } from './settlement.ts';
import { sumSpend } from '../usage/spend.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { applySettlements } from '../../../tests/support/store/append.ts';
import { sampleCharge, sampleGeneration } from '../../../tests/support/store/generations.ts';

const DAY_MS = 86_400_000;
const TABLES = ['generations', 'ledger_entries', 'spend'] as const;

for (const { name, makePlace } of ALL_ENGINES)
  suite(`settlements: ${name}`, () => {
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
    beforeEach(async () => {
      for (const table of TABLES) await sql`delete from ${sql.table(table)}`.execute(database.kysely);
    });

    /** Makes a settlement as versions before the journal kept it. */
    function settlementOf(row: Partial<GenerationRow>, nanoUsd: number): Settlement {
      const full = sampleGeneration(row);
      const day_start_ms = full.createdAtMs - (full.createdAtMs % DAY_MS);
      const subjects = [`key:${full.keyHash}`, 'account:default'];
      return {
        generation: generationRows.toColumns(full),
        entries: [sampleCharge(full.id, nanoUsd)],
        spend: subjects.map((subject) => ({ subject, day_start_ms, is_byok: full.isByok ? 1 : 0, nano_usd: nanoUsd })),
      };
    }
    const apply = async (settlements: readonly Settlement[]) => (await applySettlements(database, settlements)).refused;

    const spendRows = () =>
      database.kysely
        .selectFrom('spend')
        .select(['subject', 'nano_usd', 'requests'])
        .orderBy('subject')
        .orderBy('day_start_ms')
        .execute();
    const entryIds = async () =>
      (await database.kysely.selectFrom('ledger_entries').select('id').orderBy('id').execute()).map(({ id }) => id);
    const generationIds = async () =>
      (await database.kysely.selectFrom('generations').select('id').orderBy('id').execute()).map(({ id }) => id);

    test('stores a generation, its entry and its sums together', async () => {
      const settlement = settlementOf({ id: 'gen-1', keyHash: 'k' }, 7);
      assert.deepEqual(await apply([settlement]), []);
      assert.deepEqual(await generationIds(), ['gen-1']);
      assert.deepEqual(await entryIds(), ['gen-1:usage']);
      assert.deepEqual(await spendRows(), [
        { subject: 'account:default', nano_usd: 7, requests: 1 },
        { subject: 'key:k', nano_usd: 7, requests: 1 },
      ]);
    });

    test('charges a repeated settlement once: alone, in a larger batch, or twice in one', async () => {
      const [first, second] = [
        settlementOf({ id: 'gen-1', keyHash: 'k' }, 7),
        settlementOf({ id: 'gen-2', keyHash: 'k' }, 10),
      ];
      await apply([first]);
      await apply([first]);
      await apply([second, first, second]);
      assert.deepEqual(await entryIds(), ['gen-1:usage', 'gen-2:usage']);
      assert.deepEqual(await spendRows(), [
        { subject: 'account:default', nano_usd: 17, requests: 2 },
        { subject: 'key:k', nano_usd: 17, requests: 2 },
      ]);
    });

    test('leaves nothing of a refused settlement, and stores its neighbours', async () => {
      const [good, bad, other] = [
        settlementOf({ id: 'gen-1', keyHash: 'k' }, 7),
        settlementOf({ id: 'gen-2', keyHash: 'k' }, 10),
        settlementOf({ id: 'gen-3', keyHash: 'k' }, 100),
      ];
      // Its generation is valid, its second charge is not.
      const twice = bad.entries.flatMap((entry) => [entry, { ...entry, id: 'again' }]);
      const refused = await apply([good, { ...bad, entries: twice }, other]);
      assert.deepEqual(
        refused.map(({ payload }) => payload.includes('gen-2')),
        [true],
      );
      assert.deepEqual(await generationIds(), ['gen-1', 'gen-3']);
      assert.deepEqual(await entryIds(), ['gen-1:usage', 'gen-3:usage']);
      assert.deepEqual((await spendRows())[0], { subject: 'account:default', nano_usd: 107, requests: 2 });
    });

    test('stores a row with its columns in another order like its neighbours', async () => {
      const [first, second] = [
        settlementOf({ id: 'gen-1', keyHash: 'k' }, 7),
        settlementOf({ id: 'gen-2', keyHash: 'k' }, 10),
      ];
      const generation = Object.fromEntries(Object.entries(second.generation).toReversed());
      const [turned] = parseSettlements(JSON.stringify([{ ...second, generation }])) ?? [];
      assert.ok(turned !== undefined);
      assert.deepEqual(await apply([first, turned]), []);
      const stored = await database.kysely.selectFrom('generations').selectAll().where('id', '=', 'gen-2').execute();
      assert.deepEqual(stored, [second.generation]);
    });

    test("stores an older version's settlement, with fewer columns, between others at the first try", async () => {
      const [first, { generation, ...charges }, last] = [
        settlementOf({ id: 'gen-1', keyHash: 'k' }, 7),
        settlementOf({ id: 'gen-2', keyHash: 'k' }, 10),
        settlementOf({ id: 'gen-3', keyHash: 'k' }, 4),
      ];
      const { router: _router, saved_nano_usd: _saved, ...fewer } = generation;
      const left = parseSettlements(JSON.stringify([{ ...charges, generation: fewer }])) ?? [];
      for (const batch of [[first], left, [last]]) assert.deepEqual(await apply(batch), []);
      assert.deepEqual(await generationIds(), ['gen-1', 'gen-2', 'gen-3']);
    });

    test('writes once what shares a write with a refused settlement', async () => {
      const [first, second, bad, good] = [
        settlementOf({ id: 'gen-1', keyHash: 'k' }, 1),
        settlementOf({ id: 'gen-2', keyHash: 'k' }, 2),
        settlementOf({ id: 'gen-3', keyHash: 'k' }, 4),
        settlementOf({ id: 'gen-4', keyHash: 'k' }, 8),
      ];
      await apply([first]);
      // While this one is under way the others queue up, and are sent together.
      const busy = apply([second]);
      const more = sql`update spend set nano_usd = nano_usd + 100 where subject = 'key:k'`.execute(database.kysely);
      const twice = bad.entries.flatMap((entry) => [entry, { ...entry, id: 'again' }]);
      const refused = apply([{ ...bad, entries: twice }, good]);
      await Promise.all([busy, more]);
      assert.deepEqual(
        (await refused).map(({ payload }) => payload.includes('gen-3')),
        [true],
      );
      assert.deepEqual(await spendRows(), [
        { subject: 'account:default', nano_usd: 11, requests: 3 },
        { subject: 'key:k', nano_usd: 111, requests: 3 },
      ]);
    });

    test('lets writers touch the same sums in other orders without a deadlock or a lost charge', async () => {
      const batches = Array.from({ length: 12 }, (_, writer) =>
        Array.from({ length: 8 }, (_none, index) =>
          settlementOf({ id: `gen-${writer}-${index}`, keyHash: `k${(writer % 2 === 0 ? index : 7 - index) % 8}` }, 1),
        ),
      );
      const others = await Promise.all([openDatabase({ ...place, clock }), openDatabase({ ...place, clock })]);
      const writers = place.path === ':memory:' && place.url === undefined ? [database] : [database, ...others];
      const refused = await Promise.all(
        batches.map((batch, writer) => appendPatiently(writers[writer % writers.length] ?? database, batch)),
      );
      await Promise.all(others.map((other) => other.close()));
      assert.deepEqual(refused.flat(), []);
      assert.deepEqual((await spendRows())[0], { subject: 'account:default', nano_usd: 96, requests: 96 });
      assert.equal((await spendRows()).length, 9);
    });

    test('sums spending by key, credential and window', async () => {
      const spent = (id: string, keyHash: string, day: number, nanoUsd: number, isByok = false) =>
        settlementOf({ id, keyHash, createdAtMs: day * DAY_MS + 1, isByok }, nanoUsd);
      await apply([
        spent('1', 'a', 99, 1),
        spent('2', 'a', 100, 20),
        spent('3', 'a', 200, 300),
        spent('4', 'a', 300, 4_000),
        spent('6', 'a', 250, 50_000, true),
        spent('7', 'b', 300, 7),
        spent('8', 'c', 300, Number.MAX_SAFE_INTEGER - 4_020),
        spent('9', 'c', 301, Number.MAX_SAFE_INTEGER),
      ]);
      const sums = await createKeyStore({ database }).sumSpend(['a', 'c', 'nobody'], {
        dayStartMs: 300 * DAY_MS,
        weekStartMs: 200 * DAY_MS,
        monthStartMs: 100 * DAY_MS,
      });
      const nothing = { total: 0, day: 0, week: 0, month: 0 };
      assert.deepEqual(sums.get('a'), {
        own: { total: 4_321, day: 4_000, week: 4_300, month: 4_320 },
        byok: { total: 50_000, day: 0, week: 50_000, month: 50_000 },
      });
      assert.deepEqual(sums.get('nobody'), { own: nothing, byok: nothing });
      assert.equal(sums.get('c')?.own.total, 2 * Number.MAX_SAFE_INTEGER - 4_020);
      assert.equal(sums.size, 3);
      const windows = { dayStartMs: 0, weekStartMs: 0, monthStartMs: 0 };
      assert.deepEqual((await sumSpend(database, ['workspace:none'], windows)).get('workspace:none')?.own, nothing);
    });
  });

const TRIES_MAX = 50;

/** As a journal does: another process may hold the file for longer than a settlement waits. */
async function appendPatiently(database: Database, batch: readonly Settlement[]) {
  for (let tries = 1; ; tries++)
    try {
      return (await applySettlements(database, batch)).refused;
    } catch (error) {
      if (!(error instanceof DatabaseError && error.transient) || tries === TRIES_MAX) throw error;
    }
}
