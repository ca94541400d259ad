import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { createAppender } from '../../../tests/support/store/append.ts';
import { ALL_ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import { createRouteStore, type RouteStore } from './generation-routes.ts';

const MATCHED = { code: 'filter-matched', path: 'request', message: 'blocked: PROJECT (guardrail one)' } as const;

for (const { name, makePlace } of ALL_ENGINES)
  suite(`routes of generations: ${name}`, () => {
    let database: Database;
    let place: Place;
    let store: RouteStore;
    before(async () => {
      place = await makePlace();
      database = await openDatabase({ ...place, clock });
      store = createRouteStore(database);
      const generations = createAppender(database);
      for (const at of [1, 2, 3, 4]) {
        const id = `gen-${at}`;
        await generations.append(sampleGeneration({ id, createdAtMs: at, warnings: at === 2 ? [] : [MATCHED] }));
        await store.insert([{ generationId: id, createdAtMs: at, body: `body ${at}` }]);
      }
    });
    after(async () => {
      await database.close();
      await place.remove();
    });

    test('are found by the guardrail that matched, newest first', async () => {
      const range = { fromMs: 1, lookedAtMax: 100, limit: 100 };
      const found = await store.findOfGuardrail('one', range);
      assert.deepEqual(found, { ids: ['gen-4', 'gen-3', 'gen-1'], lookedAt: 4, endedAtMs: undefined });
      assert.deepEqual((await store.findOfGuardrail('two', range)).ids, []);
      assert.deepEqual((await store.findOfGuardrail('one', { ...range, fromMs: 2 })).ids, ['gen-4', 'gen-3']);
    });

    test('are looked at up to each bound, which the result names', async () => {
      const range = { fromMs: 0, lookedAtMax: 3, limit: 100 };
      assert.deepEqual(await store.findOfGuardrail('one', range), {
        ids: ['gen-4', 'gen-3'],
        lookedAt: 3,
        endedAtMs: 2,
      });
      const full = await store.findOfGuardrail('one', { ...range, limit: 1 });
      assert.deepEqual([full.ids, full.endedAtMs], [['gen-4'], 4]);
    });

    test('are read by their ids', async () => {
      const rows = await store.readAll(['gen-1', 'gen-3', 'gen-9']);
      assert.deepEqual(rows.map(({ body }) => body).toSorted(), ['body 1', 'body 3']);
    });
  });
