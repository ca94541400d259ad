import assert from 'node:assert/strict';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { spawnSync } from 'node:child_process';
import { makeFolder } from '../../../tests/support/cli/spawn-cli.ts';
import { listenLocally, makeSocketPath, removeDeadSockets, socketAt } from './local-socket.ts';

test('listens where only its owner can connect', async (t) => {
  const path = socketAt(await makeSocketPath(makeFolder(t), ['link']), 'link');
  const server = createServer();
  t.after(() => server.close());
  await listenLocally(server, path);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('uses a folder of its own where the path would be too long', async (t) => {
  const folder = join(makeFolder(t), 'x'.repeat(90));
  mkdirSync(folder);
  const path = await makeSocketPath(folder, ['link']);
  assert.ok(!path.startsWith(folder));
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  const server = createServer();
  t.after(() => server.close());
  await listenLocally(server, socketAt(path, 'link'));
});

test('removes the sockets of killed processes and no other', async (t) => {
  const folder = makeFolder(t);
  const live = socketAt(await makeSocketPath(folder, ['link']), 'link');
  const dead = socketAt(await makeSocketPath(folder, ['link']), 'link');
  const server = createServer();
  t.after(() => server.close());
  await listenLocally(server, live);
  const script = `require('net').createServer().listen(${JSON.stringify(dead)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', script]);
  assert.ok(existsSync(dead));
  await removeDeadSockets(folder);
  assert.deepEqual([existsSync(live), existsSync(dead)], [true, false]);
});
