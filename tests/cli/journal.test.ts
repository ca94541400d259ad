import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { captureCli } from '../support/cli/capture-cli.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';

const ENV = { GATEWAY_API_KEY: 'test-key' };

async function ask(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer test-key' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'hi' }] }),
  });
  await response.text();
  return response.headers.get('x-generation-id') ?? '';
}

const segmentsIn = (dataDir: string) =>
  readdirSync(join(dataDir, 'journal')).filter((name) => name.endsWith('.segment'));

suite('the command journal', () => {
  test('lists and shows the journal of a running gateway, and leaves it alone', async (t) => {
    const dataDir = makeFolder(t);
    const run = (...args: readonly string[]) => captureCli(['journal', ...args, '--data-dir', dataDir]);
    const gateway = await startGateway(t, { dataDir, env: ENV });
    const id = await ask(gateway.url);
    const listed = await run('list');
    const [, stream = ''] = /^(\S+) {2}running {2}/.exec(listed.stdout) ?? [];
    assert.match(stream, /^\d{15}-\w{12}$/, listed.stdout);
    const shown = await run('show', stream);
    const records = shown.stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    assert.ok(
      records.some((record) => JSON.stringify(record).includes(id)),
      shown.stdout,
    );
    assert.deepEqual(await run('apply'), { code: 0, stdout: '0 records were stored.\n', stderr: '' });
    assert.ok(segmentsIn(dataDir).length > 0);
    gateway.child.kill('SIGTERM');
    await gateway.exited;
    assert.equal((await run('list')).stdout, 'There is no journal: the database has all records.\n');
  });

  test('says in verify which files of an earlier version are not stored yet', async (t) => {
    const dataDir = makeFolder(t);
    const cli = (...args: readonly string[]) => captureCli([...args, '--data-dir', dataDir]);
    const gateway = await startGateway(t, { dataDir, env: ENV });
    gateway.child.kill('SIGTERM');
    await gateway.exited;
    mkdirSync(join(dataDir, 'unstored'));
    writeFileSync(join(dataDir, 'unstored', '001795000000000-1-abcdefABCDEF.json'), '[]');
    const verified = await cli('credits', 'verify');
    assert.deepEqual(
      [verified.code, verified.stdout.includes('not in the database (files: 1)')],
      [1, true],
      verified.stdout,
    );
  });

  test('applies what a killed gateway has left, of which verify says that it is missing', async (t) => {
    const dataDir = makeFolder(t);
    const cli = (...args: readonly string[]) => captureCli([...args, '--data-dir', dataDir]);
    const gateway = await startGateway(t, { dataDir, env: ENV });
    const ids = await Promise.all(Array.from({ length: 20 }, () => ask(gateway.url)));
    const last = await ask(gateway.url);
    gateway.child.kill('SIGKILL');
    await gateway.exited;
    const listed = await cli('journal', 'list');
    const [, count = '0'] = /gone {5}\d segments {2}(\d+) not stored/.exec(listed.stdout) ?? [];
    if (Number(count) > 0) {
      const verified = await cli('credits', 'verify');
      assert.deepEqual([verified.code, verified.stdout.includes(`has ${count} records`)], [1, true], verified.stdout);
    }
    assert.equal((await cli('journal', 'apply')).stdout, `${count} records were stored.\n`);
    assert.deepEqual(segmentsIn(dataDir), []);
    for (const id of [...ids, last]) assert.equal((await cli('generations', 'show', id)).code, 0, id);
    assert.equal((await cli('credits', 'verify')).code, 0);
  });

  test('refuses what it does not know', async (t) => {
    const dataDir = makeFolder(t);
    for (const args of [[], ['drop'], ['list', 'more'], ['show']])
      assert.equal((await captureCli(['journal', ...args, '--data-dir', dataDir])).code, 2, args.join(' '));
  });
});
