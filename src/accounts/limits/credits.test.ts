import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openDatabase, type Database } from '../../store/engine/database.ts';
import { createLedgerStore, type LedgerStore } from '../../store/usage/ledger.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { createCredits, type Credits } from './credits.ts';

const clock = { nowMs: () => 1_790_000_000_000, monotonicMs: () => 0 };
const REASON = { accountId: 'default', note: 'for tests', author: 'cli' };

for (const { name, makePlace } of ALL_ENGINES)
  suite(`credits: ${name}`, () => {
    let database: Database;
    let place: Place;
    let store: LedgerStore;
    let credits: Credits;
    const changed: string[] = [];
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
      store = createLedgerStore({ database });
      credits = createCredits({ store, clock, onChange: (accountId) => changed.push(accountId) });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    // @spec money-44
    test('enters a grant and an adjustment with reason and author, and announces them', async () => {
      const { entry: grant } = await credits.grant({ ...REASON, amountNanoUsd: 5_000_000_001 });
      const { entry: adjustment } = await credits.adjust({
        ...REASON,
        author: 'a'.repeat(64),
        amountNanoUsd: -1,
      });
      assert.deepEqual(await credits.totals('default'), { credits: 5_000_000_000, usage: 0 });
      const { rows } = await credits.entries({ accountId: 'default', offset: 0, limit: 10 });
      assert.deepEqual(new Set(rows), new Set([grant, adjustment]));
      assert.deepEqual(
        [grant.kind, grant.note, grant.author, grant.atMs],
        ['grant', 'for tests', 'cli', clock.nowMs()],
      );
      assert.deepEqual(changed, ['default', 'default']);
    });

    test('answers 400 for a bad amount or a missing reason, and enters nothing', async () => {
      const untouched = await credits.totals('default');
      for (const amountNanoUsd of [0, -1, 0.5, Number.NaN, Infinity, 9_000_001e9])
        await assert.rejects(credits.grant({ ...REASON, amountNanoUsd }), { status: 400, message: /^amount: / });
      await assert.rejects(credits.adjust({ ...REASON, amountNanoUsd: 0 }), { status: 400, message: /^amount: / });
      for (const note of ['', ' ', 'x'.repeat(1_001)])
        await assert.rejects(credits.grant({ ...REASON, note, amountNanoUsd: 1 }), { status: 400, message: /^note: / });
      assert.deepEqual(await credits.totals('default'), untouched);
    });

    test('refunds no more than a generation cost, however many requests come at once', async () => {
      await store.append({
        id: 'gen-1:usage',
        atMs: 1,
        accountId: 'default',
        kind: 'usage',
        amountNanoUsd: -100,
        generationId: 'gen-1',
        keyHash: null,
        workspaceId: null,
        note: null,
        author: null,
      });
      const refund = (amountNanoUsd?: number) =>
        credits.refund({ ...REASON, generationId: 'gen-1', ...(amountNanoUsd !== undefined && { amountNanoUsd }) });
      assert.equal((await refund(30)).entry.amountNanoUsd, 30);
      await assert.rejects(refund(71), { status: 400, message: /which is 0\.00000007 USD/ });
      const results = await Promise.allSettled([refund(), refund(), refund(50)]);
      const given = results.flatMap((result) =>
        result.status === 'fulfilled' ? [result.value.entry.amountNanoUsd] : [],
      );
      const sum = given.reduce((total, amount) => total + amount, 0);
      assert.ok(sum === 70 || sum === 50, String(given));
      if (sum === 50) await refund(20);
      await assert.rejects(refund(), { status: 404 });
      await assert.rejects(credits.refund({ ...REASON, generationId: 'gen-unknown' }), { status: 404 });
    });

    // @spec money-44
    test('enters a repeated change with its idempotency key once, however many come at once', async () => {
      const untouched = await credits.totals('default');
      const input = { ...REASON, amountNanoUsd: 7, idempotencyKey: 'invoice-1' };
      const sent = await Promise.all([1, 2, 3].map(() => credits.grant(input)));
      assert.equal(sent.filter(({ isNew }) => isNew).length, 1);
      for (const { entry } of sent) assert.deepEqual(entry, sent[0]?.entry, 'all are told the same');
      const { isNew } = await credits.grant({ ...input, author: 'b'.repeat(64) });
      assert.equal(isNew, false, 'whoever sends it');
      assert.deepEqual(await credits.totals('default'), { ...untouched, credits: untouched.credits + 7 });
      await credits.grant({ ...input, accountId: 'other' });
      assert.equal((await credits.totals('other')).credits, 7, 'accounts have keys of their own');
    });

    test('refunds nothing more for a repeated refund', async () => {
      const charge = { accountId: 'default', kind: 'usage', generationId: 'gen-2', note: null, author: null } as const;
      const unowned = { keyHash: null, workspaceId: null };
      await store.append({ ...charge, ...unowned, id: 'gen-2:usage', atMs: 1, amountNanoUsd: -100 });
      const input = { ...REASON, generationId: 'gen-2', idempotencyKey: 'refund-1' };
      const first = await credits.refund(input);
      assert.deepEqual([first.entry.amountNanoUsd, first.isNew], [100, true]);
      assert.deepEqual(await credits.refund(input), { entry: first.entry, isNew: false });
    });

    // @spec money-44
    test('answers 409 for an idempotency key of another change, and 400 for an invalid one', async () => {
      const input = { ...REASON, amountNanoUsd: 3, idempotencyKey: 'invoice-2' };
      await credits.grant(input);
      const untouched = await credits.totals('default');
      const refused = { status: 409, message: /used for another change.*a grant of 0\.000000003 USD/ };
      await assert.rejects(credits.grant({ ...input, amountNanoUsd: 4 }), refused);
      await assert.rejects(credits.grant({ ...input, note: 'another' }), refused);
      await assert.rejects(credits.grant({ ...input, workspaceId: 'w' }), refused);
      await assert.rejects(credits.adjust(input), refused);
      await assert.rejects(credits.refund({ ...input, generationId: 'gen-2' }), refused);
      for (const idempotencyKey of ['', 'a b', 'é', 'x'.repeat(256)])
        await assert.rejects(credits.grant({ ...input, idempotencyKey }), {
          status: 400,
          message: /^idempotency key: must be 1 to 255/,
        });
      assert.deepEqual(await credits.totals('default'), untouched);
    });
  });
