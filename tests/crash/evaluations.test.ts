import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import type { Json } from '../../src/lib/json.ts';
import { at, clientOf, configOf, questionIn, startModels, textAt } from '../accounts/evaluations/support.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { createRandom } from '../support/random.ts';

/** `npm run test:crash` runs more. */
const KILLS = Math.min(50, Number(process.env['CRASH_KILLS'] ?? 3));
const SEED = Number(process.env['CRASH_SEED'] ?? 1);
const CONCURRENCY = 4;
/** Of a call: a run is not over before its last kill. */
const ANSWER_MS = 100;
/** A process that starts looks for jobs after a second. */
const LIFE_MS_MAX = 2_500;
const WORK_MS_MAX = 1_500;
const ITEMS = Math.ceil(((KILLS + 1) * WORK_MS_MAX * CONCURRENCY) / ANSWER_MS / 2);
const MODELS = ['acme/good', 'acme/bad'];
const CAP_USD = 100;
/** Of 15 tokens. */
const CALL_USD = 0.000015;
const LISTED = 500;
const UNTIL_DONE_MS = 300_000;

/** What became of every item: the facts that do not depend on the time of its call. */
async function tableOf(client: ReturnType<typeof clientOf>, id: string): Promise<readonly string[]> {
  const rows: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { body } = await client.call('GET', `/benchmarks/runs/${id}/items?limit=${LISTED}${query}`);
    const data = body['data'];
    assert.ok(Array.isArray(data));
    for (const row of data as readonly Json[])
      rows.push(
        JSON.stringify(
          ['item_id', 'model', 'repeat', 'verdict', 'score', 'answer_sha256'].map((name) => at(row, name)),
        ),
      );
    cursor = textAt(body, 'next_cursor') || undefined;
  }
  return rows;
}

// @spec evaluation-8
test(`ends with the results of a run without a crash after ${KILLS} times kill -9, CRASH_SEED=${SEED}`, async (t: TestContext) => {
  const random = createRandom(SEED);
  const upstream = await startModels(() => async (arrived) => {
    await wait(ANSWER_MS);
    const number = Number(questionIn(arrived).split(' ')[1]);
    return (number * 7) % (arrived.body['model'] === 'good' ? 5 : 2) === 0 ? 'no' : 'yes';
  });
  t.after(() => upstream.close());
  const dataDir = makeFolder(t);
  const config = join(dataDir, 'gateway.yaml');
  await writeFile(config, configOf(upstream.baseUrl));
  const start = () =>
    startGateway(t, {
      dataDir,
      args: ['--config', config],
      env: { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY },
    });
  const lines = Array.from({ length: ITEMS }, (_, n) => ({ id: `q${n}`, prompt: `question ${n}`, expected: 'yes' }));
  const settings = { models: MODELS, concurrency: CONCURRENCY, max_cost_usd: CAP_USD, seed: 5 };
  let [id, datasetId] = ['', ''];
  for (let kill = 0; kill < KILLS; kill++) {
    const gateway = await start();
    const client = clientOf(`${gateway.url}/v1`);
    if (kill === 0) {
      datasetId = await client.dataset(lines);
      id = await client.run(datasetId, settings);
    }
    await wait(random.int(0, 5) === 0 ? random.int(0, 50) : random.int(LIFE_MS_MAX - WORK_MS_MAX, LIFE_MS_MAX));
    gateway.child.kill('SIGKILL');
    await gateway.exited;
  }
  const before = upstream.arrived.length;
  const gateway = await start();
  const client = clientOf(`${gateway.url}/v1`);
  const ended = Date.now() + UNTIL_DONE_MS;
  let run: Json | undefined;
  do {
    // Killed again and again before its first answer, the job was given up: its operator resumes the run.
    ({ body: run } = await client.call('GET', `/benchmarks/runs/${id}`));
    if (at(run, 'data', 'state') === 'failed') await client.call('POST', `/benchmarks/runs/${id}/resume`);
    await wait(100);
  } while (at(run, 'data', 'state') !== 'done' && Date.now() < ended);
  assert.equal(at(run, 'data', 'state'), 'done');
  const units = ITEMS * MODELS.length;
  assert.ok(before > 0 && before < units, `kills hit a run under way: ${before} of ${units} calls by then`);
  assert.equal(at(run, 'data', 'units_done'), units);
  const calls = upstream.arrived.length;
  assert.ok(calls >= units && calls <= units + KILLS * CONCURRENCY, `${calls} calls for ${units} answers`);
  const spent = Number(at(run, 'data', 'spent_usd'));
  assert.ok(spent <= calls * CALL_USD + 1e-9 && spent >= units * CALL_USD - 1e-9, `${spent} USD for ${calls} calls`);
  const key = await client.call('GET', '/key', undefined, API_KEY);
  assert.ok(
    Math.abs(Number(at(key.body, 'data', 'usage')) - spent) < 1e-9,
    'the run has spent what its key was charged',
  );
  const second = await client.run(datasetId, settings);
  await client.until(second, 'done');
  assert.deepEqual(await tableOf(client, id), await tableOf(client, second));
});
