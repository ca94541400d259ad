import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_KEY } from '../../support/gateway.ts';
import { at, textAt, questionIn, setUp, type Setting } from './support.ts';

const items = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ prompt: `question ${n}`, expected: 'yes' }));

async function doneRun(setting: Setting, count = 40, members: object = {}): Promise<string> {
  setting.say = (arrived) => (Number(questionIn(arrived).split(' ')[1]) % 4 === 0 ? 'no' : 'yes');
  const id = await setting.run(await setting.dataset(items(count), `set-${count}`), members);
  await setting.until(id, 'done');
  return id;
}

// @spec evaluation-15
test('publishes a score with its interval into the catalog, and takes it out again', async (t) => {
  const setting = await setUp(t);
  const id = await doneRun(setting);
  const listed = () => setting.call('GET', '/benchmarks?source=local', undefined, API_KEY);
  assert.deepEqual(at((await listed()).body, 'data'), []);
  const published = await setting.call('POST', `/benchmarks/runs/${id}/publish`);
  assert.equal(published.status, 200, published.text);
  assert.match(textAt(published.body, 'metric'), /^local\/set-40@[0-9a-f]{8}$/);
  const item = at((await listed()).body, 'data', 0);
  assert.deepEqual(
    [at(item, 'model_permaslug'), at(item, 'benchmark_type'), at(item, 'accuracy'), at(item, 'total_tasks')],
    ['acme/good', 'set-40', 0.75, 40],
  );
  assert.ok(Number(at(item, 'accuracy_interval', 'low')) < 0.75);
  const before = await setting.call('GET', '/benchmarks', undefined, API_KEY);
  assert.match(before.text, /"source":"local"/);
  assert.equal((await setting.call('DELETE', `/benchmarks/runs/${id}/publish`)).status, 200);
  assert.deepEqual(at((await listed()).body, 'data'), []);
  assert.equal((await setting.call('DELETE', `/benchmarks/runs/${id}/publish`)).status, 404);
});

test('publishes nothing of fewer than 30 items', async (t) => {
  const setting = await setUp(t);
  const id = await doneRun(setting, 20);
  const refused = await setting.call('POST', `/benchmarks/runs/${id}/publish`);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /fewer than 30 items/);
});

test('lets listings and routers go by a published score only where the configuration names it', async (t) => {
  const setting = await setUp(t);
  const id = await doneRun(setting, 41);
  const { body } = await setting.call('POST', `/benchmarks/runs/${id}/publish`);
  const metric = textAt(body, 'metric');
  const withCoding = '/models?min_coding_index=1';
  const before = await setting.call('GET', withCoding, undefined, API_KEY);
  assert.ok(before.status === 200 && !before.text.includes('acme/good'));
  const named = await setUp(t, `scores: { abilities: { coding: ["${metric}"] } }`);
  const other = await doneRun(named, 41);
  await named.call('POST', `/benchmarks/runs/${other}/publish`);
  assert.match((await named.call('GET', withCoding, undefined, API_KEY)).text, /acme\/good/);
});

test('imports a table with its licence, in place of an earlier one', async (t) => {
  const setting = await setUp(t);
  const table = (score: number, metric = 'some-test-2026/coding') => ({
    license: 'CC-BY-4.0',
    citation: 'Some Test, 2026',
    rows: [{ model: 'acme/good', metric, score }],
  });
  assert.equal((await setting.call('POST', '/benchmarks/import', table(0.4))).status, 200);
  assert.equal((await setting.call('POST', '/benchmarks/import', table(0.5))).status, 200);
  const listed = await setting.call('GET', '/benchmarks?source=imported', undefined, API_KEY);
  assert.deepEqual([at(listed.body, 'data', 0, 'accuracy'), at(listed.body, 'data', 1)], [0.5, undefined]);
  assert.equal(at(listed.body, 'data', 0, 'citation'), 'Some Test, 2026');
  assert.equal((await setting.call('POST', '/benchmarks/import', table(0.5, 'local/x'))).status, 400);
  assert.equal((await setting.call('POST', '/benchmarks/import', { rows: [] })).status, 400);
});

test('refuses to compare runs of different datasets, unless it is forced and says so', async (t) => {
  const setting = await setUp(t);
  const [a, b] = [await doneRun(setting, 30), await doneRun(setting, 31)];
  const refused = await setting.call('GET', `/benchmarks/compare?a=${a}&b=${b}`);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /not_comparable/);
  const forced = await setting.call('GET', `/benchmarks/compare?a=${a}&b=${b}&force=true`);
  assert.deepEqual(at(forced.body, 'differs'), ['dataset']);
  assert.equal(at(forced.body, 'data', 0, 'verdict'), 'no difference shown');
  assert.equal((await setting.call('GET', `/benchmarks/compare?a=${a}&b=x`)).status, 404);
});
