import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { sql } from 'kysely';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { createAppender } from '../../../tests/support/store/append.ts';
import type { LedgerEntry } from '../../resources/ledger-entries.ts';
import { createLedgerStore, type LedgerStore } from './ledger.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { sampleCharge, sampleCharges, sampleGeneration } from '../../../tests/support/store/generations.ts';

const DAY_MS = 86_400_000;

for (const { name: engine, makePlace } of ALL_ENGINES)
  suite(`the ledger: ${engine}`, () => {
    let database: Database;
    let place: Place;
    let ledger: LedgerStore;
    let generations: ReturnType<typeof createAppender>;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
      ledger = createLedgerStore({ database });
      generations = createAppender(database);
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    function entry(changes: Partial<LedgerEntry> & Pick<LedgerEntry, 'id'>): LedgerEntry {
      return {
        atMs: 1,
        accountId: 'default',
        kind: 'grant',
        amountNanoUsd: 0,
        generationId: null,
        keyHash: null,
        workspaceId: null,
        note: 'for tests',
        author: 'cli',
        ...changes,
      };
    }

    /** Stores a generation with its charge. */
    async function generate(id: string, nanoUsd: number, isByok = false): Promise<void> {
      const row = sampleGeneration({
        id,
        isByok,
        costNanoUsd: isByok ? 0 : nanoUsd,
        listCostNanoUsd: isByok ? nanoUsd : null,
        createdAtMs: 5 * DAY_MS + 7,
      });
      await generations.append(row, sampleCharges(row));
    }

    test('gives zero for an account without entries', async () => {
      assert.equal(await ledger.balance('nobody'), 0);
      assert.deepEqual(await ledger.totals('nobody'), { credits: 0, usage: 0 });
      assert.deepEqual(await ledger.list({ accountId: 'nobody', offset: 0, limit: 10 }), { rows: [], totalCount: 0 });
    });

    // @spec money-43
    test('computes the balance as the sum of all entries, charges included', async () => {
      await ledger.append(entry({ id: 'grant', amountNanoUsd: 1_000 }));
      await ledger.append(entry({ id: 'adjustment', atMs: 2, kind: 'adjustment', amountNanoUsd: -100 }));
      await ledger.append(entry({ id: 'elsewhere', accountId: 'other', amountNanoUsd: 5_000 }));
      await Promise.all([
        generate('gen-1', 30),
        generate('gen-2', 0),
        generate('gen-3', 400, true),
        generate('gen-4', 0, true),
      ]);
      await ledger.append(entry({ id: 'fee', atMs: 8, kind: 'byok_fee', amountNanoUsd: -20, generationId: 'gen-3' }));
      assert.equal(await ledger.balance('default'), 1_000 - 100 - 30 - 20);
      assert.deepEqual(await ledger.totals('default'), { credits: 900, usage: 50 });
      const { rows } = await sql<{ sum: number | string }>`
        select sum(amount_nano_usd) as sum from ledger_entries where account_id = 'default'`.execute(database.kysely);
      assert.equal(Number(rows[0]?.sum), await ledger.balance('default'));
    });

    test('lists entries newest first, by kind and by page', async () => {
      const { rows, totalCount } = await ledger.list({ accountId: 'default', offset: 1, limit: 2 });
      assert.deepEqual([rows.map(({ id }) => id), totalCount], [['gen-1:usage', 'adjustment'], 4]);
      const grants = await ledger.list({ accountId: 'default', kind: 'grant', offset: 0, limit: 10 });
      assert.deepEqual(grants.rows, [entry({ id: 'grant', amountNanoUsd: 1_000 })]);
    });

    // @spec money-24
    test('charges a generation once', async () => {
      const charge = { kind: 'usage', amountNanoUsd: -30, generationId: 'gen-1' } as const;
      assert.equal((await ledger.append(entry({ id: 'gen-1:usage', ...charge }))).isNew, false);
      await assert.rejects(ledger.append(entry({ id: 'again', ...charge })), /ledger_entries_usage_id/);
      // A refund is no charge: it may come in parts.
      for (const id of ['refund-1', 'refund-2'])
        await ledger.append(entry({ id, kind: 'refund', amountNanoUsd: 5, generationId: 'gen-1' }));
    });

    // @spec operation-9
    test('finds no differences in books that agree', async () => {
      assert.deepEqual((await ledger.verify('default')).differences, []);
    });

    test('reports every difference with the actual and the expected value', async () => {
      const { kysely } = database;
      await kysely
        .updateTable('spend')
        .set({ nano_usd: 31 })
        .where('subject', '=', 'account:default')
        .where('is_byok', '=', 0)
        .execute();
      await kysely
        .updateTable('spend')
        .set({ requests: 9 })
        .where('subject', '=', 'member:member-1')
        .where('is_byok', '=', 1)
        .execute();
      await kysely
        .updateTable('ledger_entries')
        .set({ amount_nano_usd: -29 })
        .where('id', '=', 'gen-1:usage')
        .execute();
      await kysely.insertInto('ledger_entries').values(sampleCharge('gen-never', 3)).execute();
      const { differences, ...sides } = await ledger.verify('default');
      assert.deepEqual(sides, { generations: 1, entries: 2, subjects: 4, costNanoUsd: '30', chargedNanoUsd: '32' });
      assert.deepEqual(differences, [
        { what: 'charge', of: 'gen-1', expected: 30, found: 29 },
        { what: 'charge', of: 'gen-never', expected: 0, found: 3 },
        { what: 'spend', of: `account:default ${5 * DAY_MS}`, expected: 30, found: 31 },
        { what: 'requests', of: `member:member-1 ${5 * DAY_MS} byok`, expected: 2, found: 9 },
        { what: 'balance', of: 'account:default', expected: 32, found: 31 },
      ]);
    });
  });
