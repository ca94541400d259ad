import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { makeFolder, ROOT, runCli, startGateway } from '../support/cli/spawn-cli.ts';

/** The commit that `v0.1.0` names. */
const EARLIER = '0f0718de';
const KEY = 'mgw-rollback-0123456789abcdef0123456789abcdef';
const ADMIN = 'mgw-rollback-admin-0123456789abcdef01234567';
const ENV = { GATEWAY_API_KEY: KEY, GATEWAY_MANAGEMENT_KEY: ADMIN, GATEWAY_CONFIG: '/dev/null' };

/** The sources of the commit, on the packages of today. */
function checkOut(t: TestContext): string {
  const folder = join(makeFolder(t), 'earlier');
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', EARLIER, 'src', 'package.json', 'bin'], {
    cwd: ROOT,
    maxBuffer: 256 * 1_024 * 1_024,
  });
  execFileSync('tar', ['--extract', '--directory', folder], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

async function send(url: string, text: string): Promise<string> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: text }] }),
  });
  assert.equal(answer.status, 200);
  const { id } = (await answer.json()) as { id: string };
  return id;
}

async function isStored(url: string, id: string): Promise<boolean> {
  const answer = await fetch(`${url}/v1/generation?id=${id}`, { headers: { authorization: `Bearer ${KEY}` } });
  await answer.text();
  return answer.status === 200;
}

async function end(gateway: Awaited<ReturnType<typeof startGateway>>): Promise<void> {
  gateway.child.kill('SIGTERM');
  const { code, stderr } = await gateway.exited;
  assert.equal(code, 0, stderr);
}

const isHere = spawnSync('git', ['cat-file', '-e', EARLIER], { cwd: ROOT }).status === 0;

// What docs/deploy.md says of going back: the backup that was made before the upgrade, under the version that made it.
test(
  'the earlier version goes on from its backup after an upgrade',
  { skip: isHere ? false : `${EARLIER} is not in this clone` },
  async (t) => {
    const folder = checkOut(t);
    const earlier = (...args: readonly string[]): readonly string[] => [
      process.execPath,
      join(folder, 'src/main.ts'),
      ...args,
    ];
    const dataDir = makeFolder(t);
    const backup = join(makeFolder(t), 'before.db');

    const first = await startGateway(t, { env: ENV, dataDir, command: earlier() });
    const kept = await send(first.url, 'before the upgrade');
    const made = await runCli(t, ['backup', backup, '--data-dir', dataDir], { env: ENV, command: earlier() });
    assert.equal(made.code, 0, made.stderr);
    assert.ok(existsSync(backup));
    await end(first);

    const second = await startGateway(t, { env: ENV, dataDir });
    assert.ok(await isStored(second.url, kept), 'the upgrade keeps records');
    const lost = await send(second.url, 'after the upgrade');
    await end(second);

    const refused = await runCli(t, ['--port', '0', '--data-dir', dataDir], { env: ENV, command: earlier() });
    assert.notEqual(refused.code, 0, 'the earlier version does not start on the newer schema');

    const restored = await runCli(t, ['restore', backup, '--data-dir', dataDir], { env: ENV, command: earlier() });
    assert.equal(restored.code, 0, restored.stderr);
    const third = await startGateway(t, { env: ENV, dataDir, command: earlier() });
    assert.ok(await isStored(third.url, kept));
    assert.ok(!(await isStored(third.url, lost)), 'what came after the backup is not in it');
    await send(third.url, 'after going back');
    await end(third);
  },
);
