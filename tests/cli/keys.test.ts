import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureCli } from '../support/cli/capture-cli.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';

function createRunner(dataDir: string): (...args: readonly string[]) => ReturnType<typeof captureCli> {
  return (...args) => captureCli(['keys', ...args, '--data-dir', dataDir]);
}

function callWith(url: string, key: string): Promise<number> {
  return fetch(`${url}/v1/key`, { headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status);
}

test('creates, lists, disables, enables and deletes a key, and shows it once', async (t) => {
  const keys = createRunner(makeFolder(t));
  const made = await keys('create', '--name', 'web', '--limit', '12.50');
  assert.equal(made.code, 0);
  assert.match(made.stdout, /^mgw-[A-Za-z0-9]{32,}\n$/);
  const key = made.stdout.trim();
  const management = await keys('create', '--management');
  assert.match(management.stdout, /^mgw-mgmt-[A-Za-z0-9]{32,}\n$/);

  const listed = (await keys('list')).stdout;
  assert.ok(!listed.includes(key));
  const [hash, label] = /^([0-9a-f]{12}) {2}(\S+) +normal +enabled +12\.5 USD {2}web$/m.exec(listed)?.slice(1) ?? [];
  assert.ok(hash !== undefined && label !== undefined, listed);
  assert.match(listed, /^[0-9a-f]{12} {2}\S+ +management {2}enabled +- +Made on the command line$/m);

  assert.match((await keys('disable', hash)).stdout, /^Disabled /);
  assert.match((await keys('list')).stdout, new RegExp(`^${hash}.* disabled `, 'm'));
  assert.match((await keys('enable', label)).stdout, /^Enabled /);
  assert.match((await keys('delete', hash)).stdout, /^Deleted /);
  assert.ok(!(await keys('list')).stdout.includes(hash));
  const again = await keys('delete', hash);
  assert.deepEqual([again.code, again.stderr], [1, `There is no key "${hash}". "keys list" lists all keys.\n`]);
});

// @spec key-3
test('resets a limit each day, week or month', async (t) => {
  const dataDir = makeFolder(t);
  const keys = createRunner(dataDir);
  const made = await keys('create', '--name', 'daily', '--limit', '2', '--limit-reset', 'daily');
  assert.equal(made.code, 0, made.stderr);
  assert.match((await keys('list')).stdout, / enabled +2 USD daily +daily$/m);
  const gateway = await startGateway(t, { dataDir });
  const answer = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${made.stdout.trim()}` } });
  const { data } = (await answer.json()) as { data: { limit: number; limit_reset: string } };
  assert.deepEqual([data.limit, data.limit_reset], [2, 'daily']);
});

test('allows the same maximum of a limit as over HTTP', async (t) => {
  const keys = createRunner(makeFolder(t));
  assert.equal((await keys('create', '--limit', '9000000')).code, 0);
  assert.match((await keys('list')).stdout, / 9000000 USD /);
  const refused = await keys('create', '--limit', '9000000.01');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--limit: must be an amount in USD from 0 to 9000000, not "9000000\.01"/);
});

test('has a running gateway accept a new key, and refuse a disabled one', async (t) => {
  const dataDir = makeFolder(t);
  const gateway = await startGateway(t, { dataDir });
  const keys = createRunner(dataDir);
  const [good, bad] = await Promise.all([keys('create', '--name', 'good'), keys('create', '--name', 'bad')]);
  const hash = /\(([0-9a-f]{12})\)/.exec(bad.stderr)?.[1] ?? '';
  await keys('disable', hash);
  assert.equal(await callWith(gateway.url, good.stdout.trim()), 200);
  assert.equal(await callWith(gateway.url, bad.stdout.trim()), 401);
});

test('replaces the first keys by a key that is created before the first start', async (t) => {
  const dataDir = makeFolder(t);
  const { stdout } = await createRunner(dataDir)('create');
  const gateway = await startGateway(t, { dataDir });
  assert.equal(await callWith(gateway.url, stdout.trim()), 200);
  gateway.child.kill('SIGTERM');
  assert.match((await gateway.exited).stdout, /^Model Gateway listening on \S+\n$/);
});

test('creates no database when it lists keys', async (t) => {
  const dataDir = makeFolder(t);
  const { code, stderr } = await createRunner(dataDir)('list');
  assert.equal(code, 1);
  assert.equal(stderr, `There is no database in ${dataDir} yet: start the gateway once, or name another --data-dir.\n`);
});
