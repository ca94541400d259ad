import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { captureCli } from '../../support/cli/capture-cli.ts';
import { MANAGEMENT_KEY } from '../../support/gateway.ts';
import type { Json } from '../../../src/lib/json.ts';
import { at, PAYER, questionIn, setUp, textAt } from './support.ts';

async function fileOf(t: TestContext, name: string, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'eval-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

test('runs a file, fails below a floor, and compares, publishes and imports', async (t) => {
  const setting = await setUp(t);
  setting.say = (arrived) => (arrived.body['model'] === 'good' || questionIn(arrived).endsWith('1') ? 'yes' : 'no');
  const lines = Array.from({ length: 30 }, (_, n) => JSON.stringify({ prompt: `question ${n}`, expected: 'yes' }));
  const file = await fileOf(t, 'Our Questions.jsonl', lines.join('\n'));
  const run = (...args: readonly string[]) =>
    captureCli(['eval', ...args, '--url', setting.gateway.url, '--key', MANAGEMENT_KEY]);
  const asked = ['run', file, '--models', 'acme/good,acme/bad', '--payer', PAYER, '--max-tokens', '100'];
  const done = await run(...asked, '--max-cost', '1', '--fail-below', 'acme/good=0.9');
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /60 calls, \$[\d.]+ to \$[\d.]+\n/);
  assert.match(done.stdout, /our-questions  done/);
  assert.match(done.stdout, /acme\/good +0\.886 to 1\.000 +1\.000 +30 /);
  // The file is stored by now.
  const low = await run(...asked, '--max-cost', '1', '--fail-below', '0.9');
  assert.deepEqual([low.code, /acme\/bad has 0\.1, below 0\.9/.test(low.stderr)], [4, true], low.stderr);
  const capped = await run(...asked, '--max-cost', '0.0003');
  assert.deepEqual([capped.code, /is paused: cost_cap/.test(capped.stderr)], [3, true], capped.stderr);
  const listed = await run('list', '--json');
  const runs: Json = JSON.parse(listed.stdout);
  const id = textAt(runs, 'data', Number(at(runs, 'total_count')) - 1, 'id');
  assert.match((await run('show', id)).stdout, /our-questions  done/);
  assert.match((await run('compare', id, id)).stdout, /acme\/bad against acme\/good: worse\n/);
  assert.match((await run('publish', id)).stdout, /^local\/our-questions@[0-9a-f]{8}\nacme\/good  1\n/);
  const table = await fileOf(
    t,
    'table.json',
    JSON.stringify([{ model: 'acme/good', metric: 'x-1/coding', score: 0.5 }]),
  );
  assert.match((await run('import', table, '--license', 'CC0')).stdout, /^1 scores/);
  const all = await setting.call('GET', '/benchmarks');
  assert.match(JSON.stringify(at(all.body, 'data')), /x-1\/coding/);
});

test('says what is missing', async () => {
  const said = async (...args: readonly string[]) => {
    const { code, stderr } = await captureCli(['eval', ...args]);
    return [code, stderr];
  };
  assert.deepEqual(await said(), [2, 'eval: say what to do: run, list, show, compare, publish, import, collect\n']);
  assert.deepEqual(await said('show'), [2, 'eval show: name a run\n']);
  assert.deepEqual(await said('compare', 'a'), [2, 'eval compare: name another one, or the same\n']);
  assert.deepEqual(await said('list', 'x'), [2, 'eval list: x: unexpected argument\n']);
  assert.deepEqual(await said('list'), [2, 'eval: give a management key with --key or in GATEWAY_MANAGEMENT_KEY\n']);
  const run = ['run', 'f', '--key', 'k', '--url', 'http://127.0.0.1:1'];
  assert.deepEqual(await said(...run), [2, 'eval run: name models with --models a,b\n']);
  assert.deepEqual(await said(...run, '--models', 'a', '--max-cost', 'x', '--payer', 'p'), [
    2,
    '--max-cost: must be a number, not "x"\n',
  ]);
});
