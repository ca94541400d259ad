import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeRootfs } from '../../src/containers/rootfs.ts';
import { INTERNS_ON, settingOf } from '../accounts/interns/support.ts';
import { startToolTurns } from '../support/tool-turns.ts';

const isThere = process.platform === 'linux' && existsSync('/usr/bin/bwrap');
const skip =
  isThere || process.env['REQUIRE_CONTAINERS'] === '1'
    ? false
    : 'bubblewrap is not installed here: NO container of an intern was tried';

// @spec intern-29
test('an intern has one container of its own, which stays from run to run and goes with it', { skip }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'intern-container-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const rootfs = join(folder, 'rootfs');
  await makeRootfs(rootfs);
  const commands = ['echo kept > note; pwd', 'cat note'];
  const turns = await startToolTurns(
    t,
    (_arrived, at) =>
      at % 2 === 0 ? { calls: [{ name: 'service_bash', input: JSON.stringify({ command: commands[at / 2] }) }] } : {},
    {
      yaml: `${INTERNS_ON}containers: { runtime: auto, rootfs: "${rootfs}", limits: { memory_mb: 96, disk_mb: 4 } }\n`,
    },
  );
  const { call, intern, chat } = settingOf(turns.gateway);
  // Whatever container the tool names: another one would be another intern's, or a session's.
  const environment = { type: 'container_reference', container_id: 'foreign' };
  const id = await intern({
    model: 'acme/chat',
    tools: [{ type: 'service:bash', parameters: { environment } }],
    approval: { rules: [{ tool: 'service:bash', decision: 'allow' }] },
  });
  const containers = async () =>
    [...(await call('GET', '/containers')).text.matchAll(/"id":"([^"]+)"/g)].map(([, name]) => name);
  const name = `int_${id.replaceAll('-', '').slice(0, 16)}`;
  assert.deepEqual(await containers(), [name], 'provisioning has started it');
  await chat(id, 'write');
  await chat(id, 'read');
  const last = JSON.stringify(turns.chat.arrived.at(-1)?.body);
  assert.match(last, /kept/);
  assert.deepEqual(await containers(), [name]);
  assert.equal((await call('DELETE', `/interns/${id}`)).status, 202);
  assert.deepEqual(await containers(), []);
});

// @spec intern-29
test('a shell is refused where there are no containers', async (t) => {
  const turns = await startToolTurns(t, () => ({}), { yaml: INTERNS_ON });
  const { call } = settingOf(turns.gateway);
  const { status, text } = await call('POST', '/interns', { name: 'Ada', tools: [{ type: 'service:bash' }] });
  assert.equal(status, 400, text);
  assert.match(text, /tools\[0\]/);
});
