import assert from 'node:assert/strict';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { makeFolder, runCli, startGateway } from '../support/cli/spawn-cli.ts';

suite('a data directory', () => {
  for (const way of ['deleted', 'renamed'] as const)
    test(`is ${way} under a running gateway: makes it not ready, with the reason in the response and once in the log`, async (t) => {
      const dataDir = join(makeFolder(t), 'data');
      const gateway = await startGateway(t, { dataDir });
      const look = () => fetch(`${gateway.url}/health/ready`);
      assert.equal((await look()).status, 200);
      if (way === 'deleted') await rm(dataDir, { recursive: true });
      else await rename(dataDir, `${dataDir}-old`);
      for (let count = 0; count < 3; count++) {
        const answer = await look();
        assert.equal(answer.status, 503);
        assert.match(await answer.text(), /the file of the database was deleted or replaced/);
      }
      assert.equal((await fetch(`${gateway.url}/health/live`)).status, 200);
      gateway.child.kill('SIGTERM');
      const { stderr } = await gateway.exited;
      assert.equal(stderr.match(/the gateway is not ready/g)?.length, 1, stderr);
    });

  test('has a malformed page: credits verify reports it in one sentence', async (t) => {
    const dataDir = makeFolder(t);
    const gateway = await startGateway(t, { dataDir });
    gateway.child.kill('SIGTERM');
    await gateway.exited;
    const path = join(dataDir, 'gateway.db');
    const { size } = await stat(path);
    const file = await open(path, 'r+');
    // The schema stays whole, so that the database opens; what the tables hold does not.
    await file.write(Buffer.alloc(size - 65_536, 0xa5), 0, size - 65_536, 65_536);
    await file.close();
    const { code, stdout, stderr } = await runCli(t, ['credits', 'verify', '--data-dir', dataDir]);
    assert.equal(code, 1, stdout);
    assert.match(stderr, /malformed.*Put a backup in its place: model-gateway restore FILE\.\n$/);
    assert.doesNotMatch(stderr, /\n\s+at /);
  });
});
