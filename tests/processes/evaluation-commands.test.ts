import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeRootfs } from '../../src/containers/rootfs.ts';
import { setUp } from '../accounts/evaluations/support.ts';

const isThere = process.platform === 'linux' && existsSync('/usr/bin/bwrap');
const skip =
  isThere || process.env['REQUIRE_CONTAINERS'] === '1'
    ? false
    : 'bubblewrap is not installed here: NO command of a check was tried';

// @spec evaluation-18
test('a command checks an answer in a container that is there for it alone', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'evaluation-commands-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const rootfs = join(folder, 'rootfs');
  await makeRootfs(rootfs);
  const setting = await setUp(
    t,
    `containers: { runtime: auto, rootfs: "${rootfs}", limits: { memory_mb: 96, disk_mb: 4 } }`,
  );
  const { call, dataset, run, until, gateway } = setting;
  // What an answer says is no part of a command.
  setting.say = () => `'; touch /home/agent/broken; echo '42`;
  const check = (command: string, more: object = {}) => [{ type: 'command', command, ...more }];
  const id = await dataset([
    {
      id: 'right',
      prompt: 'a',
      expected: { sum: 42 },
      checks: check('grep -q 42 answer.txt && grep -q 42 expected.json'),
    },
    { id: 'wrong', prompt: 'b', checks: check('grep -q 43 answer.txt') },
    { id: 'late', prompt: 'c', checks: check('sleep 30', { timeout_s: 1 }) },
    { id: 'alone', prompt: 'd', checks: check('test ! -e broken && test ! -e seen && touch seen') },
    { id: 'again', prompt: 'e', checks: check('test ! -e seen && touch seen') },
  ]);
  const runId = await run(id);
  await until(runId, 'done');
  const items = await call('GET', `/benchmarks/runs/${runId}/items`);
  const data = items.body['data'];
  assert.ok(Array.isArray(data), items.text);
  const verdicts = Object.fromEntries(data.map((item) => [Object(item)['item_id'], Object(item)['verdict']]));
  assert.deepEqual(verdicts, { right: 'pass', wrong: 'fail', late: 'fail', alone: 'pass', again: 'pass' });
  assert.deepEqual(await readdir(join(gateway.dataDir, 'containers')), [], 'no container is left');
});
