import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { POSTGRES_ENGINES } from '../support/store/engines.ts';
import { runCli, startGateway } from '../support/cli/spawn-cli.ts';

for (const { makePlace } of POSTGRES_ENGINES)
  suite('gateways that start on PostgreSQL', () => {
    async function makeDatabase(t: TestContext): Promise<Readonly<Record<string, string>>> {
      const place = await makePlace();
      t.after(() => place.remove());
      return { DATABASE_URL: place.url ?? '', GATEWAY_SECRET: 'a secret that all of them share' };
    }

    const statusOf = async (url: string, key: string): Promise<number> =>
      (await fetch(`${url}/v1/key`, { headers: { authorization: `Bearer ${key}` } })).status;

    test('create one pair of keys on an empty database, which each of them accepts', async (t) => {
      const env = await makeDatabase(t);
      const together = await Promise.all([1, 2, 3].map(() => startGateway(t, { env })));
      for (const { child } of together) child.kill('SIGTERM');
      const printed = (await Promise.all(together.map(({ exited }) => exited))).map(({ stdout }) => stdout).join('');
      const keys = [...printed.matchAll(/(?:Management key|API key): +(\S+)\n/g)].map(([, key]) => key ?? '');
      assert.equal(keys.length, 2);

      const later = await Promise.all(
        [1, 2].map(() => startGateway(t, { env: { ...env, GATEWAY_LOG_LEVEL: 'warn' } })),
      );
      for (const { url } of later) for (const key of keys) assert.equal(await statusOf(url, key), 200);
      for (const { child } of later) child.kill('SIGTERM');
      for (const { exited } of later) assert.deepEqual([(await exited).code, (await exited).stderr], [0, '']);
    });

    test('report a missing server in one sentence, without the password', async (t) => {
      const env = { DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/x', GATEWAY_LOG_LEVEL: 'trace' };
      const { code, stdout, stderr } = await runCli(t, ['--port', '0'], { env });
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /Cannot open the database postgres:\/\/me@127\.0\.0\.1:1\/x: .*ECONNREFUSED/);
      assert.doesNotMatch(stderr, /hunter2/);
    });

    test('share the database with the command line', async (t) => {
      const env = await makeDatabase(t);
      const made = await runCli(t, ['keys', 'create', '--name', 'From a shell'], { env });
      assert.equal(made.code, 0, made.stderr);
      const gateway = await startGateway(t, { env });
      assert.equal(await statusOf(gateway.url, made.stdout.trim()), 200);
      const listed = await runCli(t, ['keys', 'list'], { env });
      assert.match(listed.stdout, /From a shell/);
    });
  });
