import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../engine/database.ts';
import type { GenerationRow } from '../generations/columns.ts';
import { createAppender } from '../../../tests/support/store/append.ts';
import { sumRouterSavings } from './router-savings.ts';
import { createTaskTrafficStore } from './task-traffic.ts';
import { ENGINES } from '../../../tests/support/store/engines.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';

const START_MS = 1_790_000_000_000;

const ROWS: readonly Partial<GenerationRow>[] = [
  {
    id: 'a',
    createdAtMs: START_MS,
    model: 'acme/one',
    taskType: 'math',
    tokensPrompt: 100,
    costNanoUsd: 30,
    listCostNanoUsd: null,
    costPromptNanoUsd: 10,
    router: 'auto-router',
    savedNanoUsd: 70,
    comparedModel: 'acme/best',
  },
  {
    id: 'b',
    createdAtMs: START_MS + 1,
    model: 'acme/one',
    taskType: 'math',
    tokensPrompt: 50,
    costNanoUsd: 20,
    listCostNanoUsd: null,
    costPromptNanoUsd: null,
    router: 'auto-router',
    savedNanoUsd: null,
  },
  {
    id: 'c',
    createdAtMs: START_MS + 2,
    model: 'acme/two',
    taskType: null,
    tokensPrompt: 7,
    costNanoUsd: 0,
    listCostNanoUsd: 5,
    costPromptNanoUsd: 3,
    router: null,
  },
  {
    id: 'd',
    createdAtMs: START_MS + 3,
    model: 'acme/two',
    taskType: 'math',
    status: 502,
    router: 'pareto-router',
    savedNanoUsd: -40,
    costNanoUsd: 90,
    listCostNanoUsd: null,
  },
  ...(['evaluation', 'classifier', 'judge'] as const).map((origin) => ({
    id: origin,
    createdAtMs: START_MS + 4,
    model: 'acme/one',
    taskType: 'math',
    router: null,
    origin,
  })),
  { id: 'e', createdAtMs: START_MS + 10, model: 'acme/one', taskType: 'math', tokensPrompt: 100, router: null },
];

for (const engine of ENGINES) {
  suite(`requests by task, ${engine.name}`, async () => {
    const place = await engine.makePlace();
    const database = await openDatabase({ ...place, clock });
    after(async () => {
      await database.close();
      await place.remove();
    });
    const store = createAppender(database);
    for (const row of ROWS) await store.append(sampleGeneration(row));

    test("sums responses within a time by task and model, at their cost, also with callers' credentials", async () => {
      const groups = await createTaskTrafficStore(database).read(START_MS, START_MS + 10);
      assert.deepEqual(
        groups.map(({ taskType, model, requests, tokensPrompt, costNanoUsd }) => [
          taskType,
          model,
          requests,
          tokensPrompt,
          costNanoUsd,
        ]),
        [
          ['math', 'acme/one', 2, 150, 50],
          [null, 'acme/two', 1, 7, 5],
        ],
      );
    });

    test('leaves prompts of an unknown price out of the average price', async () => {
      const [group] = await createTaskTrafficStore(database).read(START_MS, START_MS + 10);
      assert.equal(group?.pricedTokensPrompt, 100);
      assert.equal(group.promptNanoUsd, 10);
    });

    test('leaves out what the gateway made for itself', async () => {
      assert.deepEqual(await createTaskTrafficStore(database).read(START_MS + 4, START_MS + 5), []);
    });

    test('finds the first record from a time on', async () => {
      const traffic = createTaskTrafficStore(database);
      assert.equal(await traffic.firstFrom(0), START_MS);
      assert.equal(await traffic.firstFrom(START_MS + 5), START_MS + 10);
      assert.equal(await traffic.firstFrom(START_MS + 11), undefined);
    });

    test('sums the savings of routers by router, model and task, with negative ones where they cost more', async () => {
      const by = async (what: 'router' | 'model' | 'task_type') =>
        (await sumRouterSavings(database, START_MS, what)).map((row) => [
          row.router,
          row.of,
          row.requests,
          row.compared,
          row.costNanoUsd,
          row.savedNanoUsd,
        ]);
      assert.deepEqual(await by('router'), [
        ['auto-router', null, 2, 1, 30, 70],
        ['pareto-router', null, 1, 1, 90, -40],
      ]);
      assert.deepEqual(await by('model'), [
        ['auto-router', 'acme/one', 2, 1, 30, 70],
        ['pareto-router', 'acme/two', 1, 1, 90, -40],
      ]);
      assert.deepEqual((await by('task_type'))[0]?.slice(0, 2), ['auto-router', 'math']);
      assert.deepEqual(await sumRouterSavings(database, START_MS + 1_000, 'router'), []);
    });
  });
}
