import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captureCli } from '../support/cli/capture-cli.ts';
import { makeFolder } from '../support/cli/spawn-cli.ts';

test('lists changes made on the command line, newest first, without the key', async (t) => {
  const folder = ['--data-dir', makeFolder(t)];
  const { stdout: key, stderr } = await captureCli([
    'keys',
    'create',
    '--name',
    'we\u001b[31mb',
    '--limit',
    '5',
    ...folder,
  ]);
  const hash = /\(([0-9a-f]{12})\)/.exec(stderr)?.[1] ?? '';
  await captureCli(['keys', 'disable', hash, ...folder]);
  await captureCli(['keys', 'delete', hash, ...folder]);

  const reported = await captureCli(['audit', ...folder]);
  assert.equal(reported.code, 0, reported.stderr);
  assert.ok(!reported.stdout.includes(key.trim()));
  assert.ok(!reported.stdout.includes('\u001b'), 'no escape sequence reaches the terminal');
  const lines = reported.stdout.trimEnd().split('\n');
  assert.match(lines[0] ?? '', new RegExp(`Z  command line  deleteKey  /keys/${hash}[0-9a-f]{52}$`));
  assert.match(lines[1] ?? '', new RegExp(`updateKey  /keys/${hash}[0-9a-f]{52}  \\{"disabled":true\\}$`));
  assert.match(lines[2] ?? '', /createKey .*"kind":"normal","limit":5,"limit_reset":null\}$/);
  assert.equal(lines.length, 3);

  const filtered = await captureCli(['audit', '--action', 'updateKey', '--json', '--limit', '1', ...folder]);
  const event: unknown = JSON.parse(filtered.stdout);
  assert.ok(typeof event === 'object' && event !== null && 'actor' in event && 'changes' in event);
  assert.deepEqual([event.actor, event.changes], [{ key_hash: null, label: 'command line' }, { disabled: true }]);
});

test('says what is wrong with a wrong call', async (t) => {
  const folder = ['--data-dir', makeFolder(t)];
  for (const [args, code, message] of [
    [['audit', 'me'], 2, /audit: me: unexpected argument/],
    [['audit', '--limit', '0'], 2, /--limit: must be a number from 1 to 10000/],
    [['audit', '--limit', '10001'], 2, /--limit/],
    [['audit'], 1, /There is no database/],
  ] as const) {
    const result = await captureCli([...args, ...folder]);
    assert.equal(result.code, code);
    assert.match(result.stderr, message);
  }
});
