import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { ROOT, runCli, startCli } from '../support/cli/spawn-cli.ts';

/** The usual umask, under which a file without an explicit mode is readable by all users. */
const UMASK_022 = ['/bin/sh', '-c', 'umask 022; exec "$@"', 'sh', process.execPath, join(ROOT, 'src/main.ts')];
const ENV = { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY };

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'modes-'));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

async function useGateway(t: TestContext, dataDir: string): Promise<void> {
  const gateway = startCli(t, ['--port', '0', '--data-dir', dataDir], { command: UMASK_022, env: ENV });
  const [, url] = await gateway.until(/listening on (http\S+)/);
  const headers = { authorization: `Bearer ${MANAGEMENT_KEY}` };
  const credential = JSON.stringify({ provider: 'openai', key: 'sk-of-a-test-0123456789' });
  assert.equal((await fetch(`${url}/v1/byok`, { method: 'POST', headers, body: credential })).status, 201);
  const form = new FormData();
  form.set('file', new File(['kept'], 'note.txt'));
  const upload = await fetch(`${url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}` },
    body: form,
  });
  assert.ok(upload.status < 300, await upload.text());
  await assertClosed(dataDir, ['gateway.db', 'gateway.db-wal', 'gateway.db-shm', 'gateway.db.lock', 'secret']);
  gateway.child.kill('SIGTERM');
  await gateway.exited;
}

/** No file and no folder below may be read by others, and these are among the files. */
async function assertClosed(folder: string, wanted: readonly string[]): Promise<void> {
  const entries = await readdir(folder, { recursive: true });
  for (const name of wanted) assert.ok(entries.includes(name), `${name} of ${entries.join(', ')}`);
  for (const name of entries) {
    const { mode } = await stat(join(folder, name));
    assert.equal((mode & 0o077).toString(8), '0', name);
  }
}

suite('a data directory', () => {
  test('is closed to other users when it is new', async (t) => {
    const dataDir = join(await makeFolder(t), 'new', 'data');
    await useGateway(t, dataDir);
    assert.equal(((await stat(dataDir)).mode & 0o777).toString(8), '700');
  });

  test('is closed to other users when it was open before, with its older files', async (t) => {
    const folder = await makeFolder(t);
    const dataDir = join(folder, 'data');
    await mkdir(dataDir, { mode: 0o755 });
    await chmod(dataDir, 0o755);
    await useGateway(t, dataDir);
    for (const name of await readdir(dataDir))
      if ((await stat(join(dataDir, name))).isFile()) await chmod(join(dataDir, name), 0o644);
    await useGateway(t, dataDir);
    const backup = join(folder, 'backup.db');
    const { code, stderr } = await runCli(t, ['backup', backup, '--data-dir', dataDir], { command: UMASK_022 });
    assert.equal(code, 0, stderr);
    assert.equal(((await stat(backup)).mode & 0o777).toString(8), '600');
  });
});
