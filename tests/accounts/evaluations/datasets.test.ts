import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { API_KEY } from '../../support/gateway.ts';
import { at, setUp } from './support.ts';

async function blobsOf(dataDir: string): Promise<number> {
  const folder = join(dataDir, 'files', 'evaluations');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).length;
}

test('stores a dataset, names the lines that are wrong, and leaves no file of them', async (t) => {
  const { upload, call, gateway } = await setUp(t);
  const good = await upload([{ prompt: 'a', expected: 'b' }]);
  assert.equal(good.status, 201);
  assert.deepEqual([at(good.body, 'data', 'items'), at(good.body, 'data', 'judged_items')], [1, 0]);
  assert.equal(await blobsOf(gateway.dataDir), 1);
  const again = await upload([{ prompt: 'a', expected: 'b' }]);
  assert.equal(again.status, 409);
  assert.equal((await upload([{ prompt: 'a', expected: 'b' }], 'other')).status, 201);
  const bad = await upload('{"prompt": "a"}\nnothing\n{"messages": [{"role": "nobody", "content": "x"}]}\n');
  assert.equal(bad.status, 400);
  assert.match(bad.text, /line 2: is not a JSON object/);
  assert.match(bad.text, /line 3: .*role/);
  assert.equal((await upload([{ prompt: 'a' }], 'No Such Name')).status, 400);
  assert.equal(await blobsOf(gateway.dataDir), 2);
  assert.equal((await call('GET', '/benchmarks/datasets', undefined, API_KEY)).status, 403);
  const list = await call('GET', '/benchmarks/datasets');
  assert.equal(at(list.body, 'total_count'), 2);
});

test('keeps a dataset that a run needs, and the results of one that was deleted', async (t) => {
  const setting = await setUp(t);
  setting.say = async () => (await wait(50), 'b');
  const id = await setting.dataset([{ prompt: 'a', expected: 'b' }]);
  const run = await setting.run(id);
  assert.equal((await setting.call('DELETE', `/benchmarks/datasets/${id}`)).status, 409);
  await setting.until(run, 'done');
  assert.equal((await setting.call('DELETE', `/benchmarks/datasets/${id}`)).status, 200);
  assert.equal((await setting.call('DELETE', `/benchmarks/datasets/${id}`)).status, 404);
  assert.equal(await blobsOf(setting.gateway.dataDir), 0);
  assert.equal(at((await setting.call('GET', `/benchmarks/runs/${run}`)).body, 'results', 0, 'mean'), 1);
});

// @spec evaluation-18
test('a dataset whose checks run commands is refused where there are no containers', async (t) => {
  const { upload } = await setUp(t);
  const checks = [{ type: 'contains' }, { type: 'command', command: 'true' }];
  const { status, text } = await upload([{ prompt: 'a', expected: 'b', checks }]);
  assert.equal(status, 400, text);
  assert.match(text, /line 1: checks\.1: a command needs containers.*containers\.runtime/);
  const unknown = await upload([{ prompt: 'a', checks: [{ type: 'command', command: 'true', image: 'x' }] }]);
  assert.match(unknown.text, /line 1: checks\.0.*image/);
});
