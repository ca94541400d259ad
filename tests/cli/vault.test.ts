import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { captureCli } from '../support/cli/capture-cli.ts';
import { makeFolder } from '../support/cli/spawn-cli.ts';

const VALUE = 's3cret-canary-0123456789';

// @spec vault-13
test('stores, lists, checks and deletes secrets of the operator, and shows no value', async (t) => {
  const dataDir = makeFolder(t);
  const file = join(dataDir, 'gateway.yaml');
  await writeFile(
    file,
    'providers: { alpha: { adapter: openai-compatible, base_url: "https://api.alpha.example/v1", api_key: "vault:alpha_key" } }',
  );
  const vault = (args: readonly string[], input?: string) =>
    captureCli(['vault', ...args, '--data-dir', dataDir, '--config', file], input);
  const set = (hosts: string) => vault(['set', 'alpha_key', '--hosts', hosts], `${VALUE}\n`);
  assert.deepEqual(await set('api.alpha.example,b.example'), { code: 0, stdout: '', stderr: '' });
  const listed = await vault(['list']);
  assert.match(listed.stdout, /^alpha_key {2}api\.alpha\.example,b\.example {2}[0-9a-f]{16} {2}never used\n$/);
  assert.deepEqual(await vault(['doctor']), { code: 0, stdout: 'ok      providers.alpha.api_key\n', stderr: '' });
  const ages = await vault(['rotate-check']);
  assert.equal(ages.code, 0);
  assert.match(ages.stdout, /^ok {6}alpha_key {2}0 days old {2}never used {2}providers\.alpha\.api_key\n$/);
  await set('b.example');
  const wrong = await vault(['doctor']);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /^FAILED {2}providers\.alpha\.api_key: .*api\.alpha\.example.*not among its hosts/);
  const used = await vault(['delete', 'alpha_key']);
  assert.equal(used.code, 1);
  assert.match(used.stderr, /providers\.alpha\.api_key/);
  assert.equal((await vault(['delete', 'alpha_key', '--force'])).code, 0);
  assert.match((await vault(['doctor'])).stdout, /There is no secret/);
  const audit = await captureCli(['audit', '--data-dir', dataDir]);
  assert.match(audit.stdout, /vault set/);
  for (const { stdout, stderr } of [listed, wrong, used, audit]) assert.ok(!`${stdout}${stderr}`.includes(VALUE));
});

test('rejects a wrong call, and a value on the command line', async (t) => {
  const dataDir = makeFolder(t);
  for (const args of [
    [],
    ['show'],
    ['set'],
    ['set', 'a'],
    ['set', 'a', 'value', '--hosts', 'a.example'],
    ['list', 'a'],
    ['list', '--force'],
    ['list', '--intern', 'x'],
  ])
    assert.equal((await captureCli(['vault', ...args, '--data-dir', dataDir])).code, 2, args.join(' '));
  const address = await captureCli(['vault', 'set', 'a', '--hosts', '10.0.0.1', '--data-dir', dataDir], VALUE);
  assert.equal(address.code, 1);
  assert.match(address.stderr, /hosts\[0\]/);
});

// @spec vault-26
test('keeps secrets of an intern apart from others', async (t) => {
  const dataDir = makeFolder(t);
  const vault = (args: readonly string[], input?: string) =>
    captureCli(['vault', ...args, '--data-dir', dataDir], input);
  const own = ['--intern', '3f2c9a52-6d1c-4f0e-9c4e-0d6f4a1b2c3d'];
  assert.equal((await vault(['set', 'mail_key', '--hosts', 'a.example', ...own], `${VALUE}\n`)).code, 0);
  assert.match((await vault(['list', ...own])).stdout, /mail_key/);
  assert.doesNotMatch((await vault(['list'])).stdout, /mail_key/);
});
