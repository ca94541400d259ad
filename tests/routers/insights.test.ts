import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_KEY } from '../support/gateway.ts';
import { manage } from '../support/byok.ts';
import { captureCli } from '../support/cli/capture-cli.ts';
import { at, CODE, startRouted } from '../support/routers/three-models.ts';

test('returns empty shares of tasks without traffic', async (t) => {
  const { gateway } = await startRouted(t);
  const { status, body } = await manage(gateway, 'GET', '/classifications/task?window=7d', undefined, API_KEY);
  assert.equal(status, 200);
  assert.equal(at(body, 'data', 'window_days'), 7);
  assert.deepEqual(at(body, 'data', 'classifications'), []);
  const wrong = await manage(gateway, 'GET', '/classifications/task?window=30d', undefined, API_KEY);
  assert.equal(wrong.status, 400);
});

// @spec router-37
test('lists the benchmarks behind the routers, for available models', async (t) => {
  const { gateway } = await startRouted(t);
  const get = async (query: string) => (await manage(gateway, 'GET', `/benchmarks${query}`, undefined, API_KEY)).body;
  const coding = await get('?benchmark_type=coding');
  const items = at(coding, 'data');
  assert.ok(Array.isArray(items));
  assert.deepEqual(
    items.map((item) => [at(item, 'model_permaslug'), at(item, 'accuracy'), at(item, 'source')]),
    [
      ['acme/best', 0.9, 'configured'],
      ['acme/mid', 0.6, 'configured'],
      ['acme/cheap', 0.3, 'configured'],
    ],
  );
  assert.equal(at(coding, 'meta', 'model_count'), 3);
  assert.deepEqual(at(items[0], 'pricing'), { prompt: '0.00001', completion: '0.00002' });
  assert.deepEqual(at(await get('?source=design-arena'), 'data'), [], 'that benchmark is not available');
  assert.deepEqual(at(await get('?arena=models'), 'data'), []);
  const tasks = at(await get('?task_type=agentic&max_results=2'), 'data');
  assert.ok(Array.isArray(tasks) && tasks.length === 2);
});

// @spec router-37
test('limits statistics to thirty calls a minute for each key', async (t) => {
  const { gateway } = await startRouted(t);
  const statuses: number[] = [];
  for (let look = 0; look < 31; look++)
    statuses.push((await manage(gateway, 'GET', '/benchmarks?max_results=1', undefined, API_KEY)).status);
  assert.deepEqual([...new Set(statuses.slice(0, 30))], [200]);
  assert.equal(statuses.at(-1), 429);
});

test('sums up the savings of routers in the report', async (t) => {
  const { gateway, post } = await startRouted(t);
  await post({ model: 'service/auto', messages: CODE });
  await post({ model: 'service/auto', messages: CODE, plugins: [{ id: 'auto-router', cost_tier: 'max' }] });
  await post({ model: 'acme/best', messages: CODE });
  const report = async (...flags: readonly string[]) =>
    captureCli(['report', 'routers', ...flags, '--data-dir', gateway.dataDir]);
  const { code, stdout } = await report();
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^router +requests +compared +cost +saved +saved %\nauto-router +2 +2 +\$0\.000202 +\$0\.000198 +50 %\n$/,
  );
  const models = await report('--by', 'model', '--json');
  assert.deepEqual(
    models.stdout
      .trim()
      .split('\n')
      .map((line): unknown => at(JSON.parse(line), 'of')),
    ['acme/cheap', 'acme/best'],
  );
  assert.match((await report('--by', 'task')).stdout, /auto-router +code:general_impl +2/);
});

test("explains a router's choice with the explain command", async (t) => {
  const { gateway } = await startRouted(t);
  const { code, stdout } = await captureCli([
    'explain',
    '--url',
    gateway.url,
    '--key',
    API_KEY,
    '--model',
    'service/auto',
  ]);
  assert.equal(code, 0);
  assert.match(stdout, /auto-router takes it for conversational_reply and chooses acme\/cheap\n/);
  assert.match(stdout, /acme\/best {2}score [\d.]+, cost percentile 1, in band false\n/);
});
