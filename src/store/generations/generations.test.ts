import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { createAppender } from '../../../tests/support/store/append.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';

for (const { name, makePlace } of ALL_ENGINES)
  suite(`generations: ${name}`, () => {
    let database: Database;
    let place: Place;
    let store: ReturnType<typeof createAppender>;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
      store = createAppender(database);
    });
    after(async () => {
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
  });
