import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { sql } from 'kysely';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { systemClock } from '../../lib/clock.ts';
import { openDatabase, type Database } from '../engine/database.ts';
import { generationRows } from '../generations/columns.ts';
import type { DatasetRow, ResultRow, RunRow, ScoreRow } from './columns.ts';
import { createDatasetStore } from './datasets.ts';
import { createEvaluationRunStore } from './runs.ts';
import { createScoreStore } from './scores.ts';

const NOW_MS = 1_790_000_000_000;
const DATASET: DatasetRow = {
  id: 'd',
  name: 'questions',
  sha256: 'a'.repeat(64),
  items: 10,
  judgedItems: 0,
  sizeBytes: 100,
  license: null,
  citation: null,
  createdAtMs: NOW_MS,
};
const RUN: RunRow = {
  id: 'r',
  name: null,
  datasetId: 'd',
  datasetName: 'questions',
  datasetSha256: DATASET.sha256,
  settings: {
    models: [{ model: 'acme/one' }],
    repeats: 1,
    sample: null,
    seed: 0,
    concurrency: 1,
    max_tokens: 10,
    cache: false,
    judge: null,
  },
  payerKeyHash: 'k',
  maxCostNanoUsd: 1_000,
  state: 'running',
  reason: null,
  error: null,
  turn: 1,
  units: 10,
  unitsDone: 0,
  spentNanoUsd: 0,
  createdAtMs: NOW_MS,
  updatedAtMs: NOW_MS,
  finishedAtMs: null,
};
const resultOf = (item: number, more: Partial<ResultRow> = {}): ResultRow => ({
  runId: 'r',
  item,
  model: 0,
  repeatNo: 0,
  itemId: `q${item}`,
  groupName: null,
  weightPpm: 1_000_000,
  verdict: 'pass',
  scorePpm: 1_000_000,
  attempts: 1,
  generationId: `gen-${item}`,
  judgeGenerationId: null,
  answerHash: null,
  error: null,
  costNanoUsd: 10,
  judgeCostNanoUsd: 1,
  latencyMs: 5,
  outputTokens: 2,
  createdAtMs: NOW_MS,
  ...more,
});
const scoreOf = (model: string, scorePpm: number, runId: string | null = 'r'): ScoreRow => ({
  id: `${model} ${scorePpm}`,
  source: 'local',
  runId,
  model,
  metric: 'local/questions@aaaaaaaa',
  scorePpm,
  lowPpm: null,
  highPpm: null,
  items: 30,
  costNanoUsd: null,
  license: null,
  citation: null,
  measuredOn: '2026-11-27',
  createdAtMs: NOW_MS,
});

for (const engine of ENGINES)
  suite(`benchmark runs: ${engine.name}`, () => {
    let place: Place;
    let database: Database;
    before(async () => {
      place = await engine.makePlace();
      database = await openDatabase({ ...place, clock: systemClock });
    });
    after(async () => {
      await database.close();
      await place.remove();
    });
    const open = async () => {
      for (const table of ['evaluation_results', 'evaluation_runs', 'evaluation_datasets', 'evaluation_scores'])
        await sql`delete from ${sql.table(table)}`.execute(database.kysely);
      const stores = {
        datasets: createDatasetStore(database),
        runs: createEvaluationRunStore(database),
        scores: createScoreStore(database),
      };
      await stores.datasets.add(DATASET);
      assert.equal(await stores.runs.add(RUN), true);
      return stores;
    };

    test('adds an answer up once, however often it is stored at the same moment', async () => {
      const { runs } = await open();
      await Promise.all(Array.from({ length: 5 }, () => runs.put(resultOf(1))));
      const [one] = await runs.results('r');
      assert.deepEqual([one?.itemId, (await runs.results('r')).length], ['q1', 1]);
      assert.equal((await runs.find('r'))?.unitsDone, 1);
    });

    test('replaces what failed upstream, and nothing else', async () => {
      const { runs } = await open();
      await runs.put(resultOf(1, { verdict: 'upstream_error', scorePpm: null }));
      assert.deepEqual(await runs.failed('r'), [{ item: 1, model: 0, repeatNo: 0, attempts: 1 }]);
      assert.deepEqual(await runs.settled('r', 3), []);
      await runs.put(resultOf(1, { attempts: 2 }));
      await runs.put(resultOf(1, { verdict: 'fail', scorePpm: 0 }));
      assert.deepEqual(
        (await runs.results('r')).map(({ verdict, attempts }) => [verdict, attempts]),
        [['pass', 2]],
      );
      const run = await runs.find('r');
      assert.equal(run?.unitsDone, 1);
      // Every call is paid for.
      assert.equal(run.spentNanoUsd, 33);
      assert.deepEqual(await runs.settled('r', 3), [{ item: 1, model: 0, repeatNo: 0 }]);
    });

    test('pages by item, model and repeat', async () => {
      const { runs } = await open();
      for (const item of [2, 0, 1]) for (const model of [1, 0]) await runs.put(resultOf(item, { model }));
      const first = await runs.page('r', { limit: 4 });
      const [last] = first.slice(-1);
      const rest = await runs.page('r', { limit: 4, after: last });
      assert.deepEqual(
        [...first, ...rest].map(({ item, model }) => `${item} ${model}`),
        ['0 0', '0 1', '1 0', '1 1', '2 0', '2 1'],
      );
      assert.equal((await runs.page('r', { limit: 9, model: 1 })).length, 3);
      assert.equal((await runs.page('r', { limit: 9, verdict: 'fail' })).length, 0);
    });

    test('changes a run in the states and the turn alone that are named', async () => {
      const { runs, datasets } = await open();
      assert.equal(await runs.change('r', ['paused'], { state: 'done' }), undefined);
      assert.equal(await runs.change('r', ['running'], { state: 'done' }, { id: 'r', turn: 2 }), undefined);
      assert.equal(await datasets.remove('d'), 'busy');
      assert.equal(await runs.remove('r'), false);
      const paused = await runs.change('r', ['running'], { state: 'paused', reason: 'cost_cap' }, RUN);
      assert.equal(paused?.reason, 'cost_cap');
      const queued = await runs.requeue('r', ['paused'], NOW_MS + 1);
      assert.deepEqual([queued?.state, queued?.turn, queued?.reason], ['queued', 2, null]);
      assert.deepEqual(
        (await runs.stranded(NOW_MS + 2, 10)).map(({ id }) => id),
        ['r'],
      );
      await runs.change('r', ['queued'], { state: 'cancelled' });
      await runs.put(resultOf(1));
      assert.equal(await datasets.remove('d'), 'removed');
      assert.equal(await datasets.remove('d'), 'missing');
      assert.equal(await runs.add({ ...RUN, id: 'other' }), false);
      assert.equal(await runs.remove('r'), true);
      assert.deepEqual(await runs.results('r'), []);
    });

    test('knows by the records what a run has spent, its judge included', async () => {
      const { runs } = await open();
      const rows = [
        { id: 'gen-a', requestId: 'r', origin: 'evaluation' as const, costNanoUsd: 5 },
        { id: 'gen-b', requestId: 'r', origin: 'judge' as const, costNanoUsd: 7 },
        { id: 'gen-c', requestId: 'r', origin: null, costNanoUsd: 100 },
        { id: 'gen-d', requestId: 'other', origin: 'evaluation' as const, costNanoUsd: 100 },
      ];
      for (const row of rows)
        await database.kysely
          .insertInto('generations')
          .values(generationRows.toColumns(sampleGeneration(row)))
          .execute();
      assert.equal(await runs.spent('r'), 12);
      assert.equal(await runs.spent('none'), 0);
    });

    test('keeps the same file once under a name, and a score once for a model and a metric', async () => {
      const { datasets, scores } = await open();
      assert.equal(await datasets.add({ ...DATASET, id: 'e' }), false);
      assert.equal(await datasets.add({ ...DATASET, id: 'e', name: 'others' }), true);
      await scores.put([scoreOf('acme/one', 100), scoreOf('acme/two', 200, null)]);
      await scores.put([scoreOf('acme/one', 300)]);
      assert.deepEqual(
        (await scores.all()).map(({ model, scorePpm }) => [model, scorePpm]),
        [
          ['acme/one', 300],
          ['acme/two', 200],
        ],
      );
      assert.equal(await scores.removeOfRun('r'), 1);
      assert.equal((await scores.all()).length, 1);
    });
  });
