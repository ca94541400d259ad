import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, mock, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { createGenerationStore, type GenerationStore } from './generations.ts';
import { ALL_ENGINES, ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { sampleCharges, sampleGeneration } from '../../../tests/support/store/generations.ts';

interface Lost {
  readonly id: string;
  readonly message: string;
}

for (const { name, isPostgres, makePlace } of ALL_ENGINES)
  suite(`generations: ${name}`, () => {
    let database: Database;
    let place: Place;
    let store: GenerationStore;
    const lost: Lost[] = [];
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
      store = createGenerationStore({
        database,
        onLost: ({ id }, { message }) => lost.push({ id, message }),
        retryDelaysMs: [1, 1],
      });
    });
    after(async () => {
      await store.close();
      await database.close();
      await place.remove();
    });

    // @spec operation-9
    test('returns a row as it was appended', async () => {
      const row = sampleGeneration({ id: 'gen-full' });
      await store.append(row);
      assert.deepEqual(await store.find('gen-full'), row);
    });

    test('returns every storable amount and character as it was', async () => {
      const row = sampleGeneration({
        id: 'gen-extreme',
        costNanoUsd: Number.MAX_SAFE_INTEGER,
        cacheDiscountNanoUsd: -Number.MAX_SAFE_INTEGER,
        appTitle: ' \u0001\u001F"\\\u2028\u{1f4a5}',
      });
      await store.append(row);
      assert.deepEqual(await store.find('gen-extreme'), row);
      await store.append({ ...row, id: 'gen-broken-text', appTitle: '\0\uD83D' });
      assert.equal((await store.find('gen-broken-text'))?.appTitle, '\uFFFD\uFFFD');
    });

    test('returns nulls for unknown optional facts', async () => {
      const row = sampleGeneration({
        id: 'gen-bare',
        apiType: 'messages',
        provider: null,
        providerName: null,
        upstreamId: null,
        upstreamModel: null,
        streamed: false,
        cancelled: true,
        finishReason: null,
        nativeFinishReason: null,
        status: 502,
        errorType: 'provider_unavailable',
        errorMessage: "it broke; drop table keys; -- ' \\u0000 \u{1f4a5}",
        attempts: [],
        sessionId: null,
        endUserHash: null,
        tokensReasoning: null,
        usageSource: 'none',
        costNanoUsd: null,
        costPromptNanoUsd: null,
        costCompletionNanoUsd: null,
        isByok: true,
        serviceTier: null,
        timeToFirstTokenMs: null,
        generationTimeMs: null,
        warnings: [],
        appUrl: null,
        appTitle: null,
        userAgent: null,
      });
      await store.append(row);
      assert.deepEqual(await store.find('gen-bare'), row);
    });

    test('finds no row for an unknown id', async () => {
      assert.equal(await store.find('gen-unknown'), undefined);
    });

    test('stores durations as whole milliseconds', async () => {
      await store.append(
        sampleGeneration({ id: 'gen-times', latencyMs: 1.6, timeToFirstTokenMs: 0.4, generationTimeMs: 2.5 }),
      );
      const found = await store.find('gen-times');
      assert.deepEqual([found?.latencyMs, found?.timeToFirstTokenMs, found?.generationTimeMs], [2, 0, 3]);
    });

    test('stores a repeated row once, as it was first', async () => {
      await store.append(sampleGeneration({ id: 'gen-twice', model: 'acme/first' }));
      await store.append(sampleGeneration({ id: 'gen-twice', model: 'acme/second' }));
      assert.equal((await store.find('gen-twice'))?.model, 'acme/first');
    });

    if (!isPostgres)
      test('sends rows that are appended together in two messages at most', async () => {
        const posts = mock.method(Worker.prototype, 'postMessage');
        const ids = Array.from({ length: 200 }, (_, index) => `gen-batch-${index}`);
        await Promise.all(ids.map((id) => store.append(sampleGeneration({ id }))));
        posts.mock.restore();
        assert.ok(posts.mock.callCount() <= 2, `${posts.mock.callCount()} messages`);
        assert.equal((await store.find('gen-batch-199'))?.id, 'gen-batch-199');
      });

    test('reports a row that the database refuses, and stores its neighbours', async () => {
      lost.length = 0;
      const broken = sampleGeneration({ id: 'gen-broken' });
      // The types forbid this; an import of old data might do it.
      Reflect.set(broken, 'region', null);
      await Promise.all([
        store.append(sampleGeneration({ id: 'gen-before' })),
        store.append(broken),
        store.append(sampleGeneration({ id: 'gen-behind' })),
      ]);
      assert.deepEqual(
        lost.map(({ id }) => id),
        ['gen-broken'],
      );
      assert.match(
        lost[0]?.message ?? '',
        /NOT NULL constraint failed: generations.region|null value in column "region"/,
      );
      assert.ok((await store.find('gen-before')) !== undefined);
      assert.ok((await store.find('gen-behind')) !== undefined);
    });

    if (!isPostgres)
      test('loses nothing to a full disk once there is room again', async () => {
        lost.length = 0;
        const setPagesMax = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(database.kysely);
        await setPagesMax(1);
        const refused = Promise.withResolvers<void>();
        const patient = createGenerationStore({
          database: {
            ...database,
            async appendSettlements(batch) {
              return database.appendSettlements(batch).catch((error: unknown) => {
                refused.resolve();
                throw error;
              });
            },
          },
          onLost: ({ id }, { message }) => lost.push({ id, message }),
          retryDelaysMs: Array.from({ length: 1_000 }, () => 2),
        });
        const ids = Array.from({ length: 50 }, (_, index) => `gen-full-disk-${index}`);
        const filler = 'x'.repeat(2_000);
        const appended = Promise.all(ids.map((id) => patient.append(sampleGeneration({ id, errorMessage: filler }))));
        await refused.promise;
        assert.equal(patient.pending(), 50);
        await setPagesMax(1_000_000);
        await appended;
        for (const id of ids) assert.ok((await store.find(id)) !== undefined);
        assert.deepEqual(lost, []);
        await patient.close();
      });

    if (!isPostgres)
      test('keeps rows beside a file that takes no writes, and makes limits unreadable until it does', async (t) => {
        const folder = await mkdtemp(join(tmpdir(), 'unstored-'));
        t.after(() => rm(folder, { recursive: true }));
        const patient = createGenerationStore({
          database,
          spool: {
            folder,
            nowMs: () => Date.now(),
            onUnreadable: (file) => assert.fail(file),
            onFailed: assert.ifError,
          },
          onLost: ({ id }) => assert.fail(id),
          retryDelaysMs: Array.from({ length: 30 }, () => 1),
        });
        t.after(() => patient.close());
        // Inside a transaction that writes nothing, since no other one begins any more.
        const setReadOnly = (isOn: boolean) =>
          database.kysely
            .transaction()
            .setAccessMode('read only')
            .execute((transaction) => sql.raw(`pragma query_only = ${isOn}`).execute(transaction));
        await setReadOnly(true);
        const rows = [1, 2, 3].map((at) => sampleGeneration({ id: `gen-read-only-${at}`, costNanoUsd: at }));
        await Promise.all(rows.map((row) => patient.append(row, sampleCharges(row))));
        assert.deepEqual([patient.pending(), patient.isBehind()], [3, true]);
        assert.equal(await store.find('gen-read-only-1'), undefined);
        await setReadOnly(false);
        patient.start();
        while (patient.isBehind()) await wait(50);
        assert.equal(patient.pending(), 0);
        for (const row of rows) assert.deepEqual(await store.find(row.id), row);
        // The state after a kill between the commit and the removal of the file.
        const again = createGenerationStore({ database, onLost: ({ id }) => assert.fail(id) });
        await Promise.all(rows.map((row) => again.append(row, sampleCharges(row))));
        await again.close();
        const { nano_usd: charged } = await database.kysely
          .selectFrom('ledger_entries')
          .select(({ fn }) => fn.sum<number>('amount_nano_usd').as('nano_usd'))
          .where('generation_id', 'like', 'gen-read-only-%')
          .executeTakeFirstOrThrow();
        assert.equal(charged, -6);
      });

    if (!isPostgres)
      test('reports the rows that did not fit on a disk that stays full', async () => {
        lost.length = 0;
        await sql`pragma max_page_count = 1`.execute(database.kysely);
        const row = sampleGeneration({ id: 'gen-no-room', errorMessage: 'x'.repeat(200_000) });
        await store.append(row);
        await sql`pragma max_page_count = 1000000`.execute(database.kysely);
        assert.deepEqual(lost, [{ id: 'gen-no-room', message: 'database or disk is full' }]);
        assert.equal(await store.find('gen-no-room'), undefined);
      });
  });

for (const { name, makePlace } of ENGINES)
  test(`has stored everything and has nothing pending after the close: ${name}`, async (context) => {
    const place = await makePlace();
    const database = await openDatabase({ ...place, clock });
    const lost: string[] = [];
    const store = createGenerationStore({ database, onLost: ({ id }) => lost.push(id) });
    const ids = Array.from({ length: 3_000 }, (_, index) => `gen-${index}`);
    for (const id of ids) void store.append(sampleGeneration({ id }));
    await store.close();
    assert.equal(store.pending(), 0);
    await database.close();
    const again = await openDatabase({ ...place, clock });
    context.after(async () => {
      await again.close();
      await place.remove();
    });
    const { count } = await again.kysely
      .selectFrom('generations')
      .select((build) => build.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    assert.deepEqual([count, lost], [3_000, []]);
  });

test('loses the row but not the request when the database is gone', async () => {
  const database = await openDatabase({ path: ':memory:', clock });
  const lost: Lost[] = [];
  const store = createGenerationStore({ database, onLost: ({ id }, { message }) => lost.push({ id, message }) });
  await database.close();
  await store.append(sampleGeneration({ id: 'gen-late' }));
  assert.deepEqual(lost, [{ id: 'gen-late', message: 'The database is closed.' }]);
});
