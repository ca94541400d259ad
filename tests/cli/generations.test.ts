import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { createAppender } from '../support/store/append.ts';
import { sampleGeneration } from '../support/store/generations.ts';
import { captureCli } from '../support/cli/capture-cli.ts';
import { startGateway } from '../support/gateway.ts';
import { makeFolder } from '../support/cli/spawn-cli.ts';

async function fill(folder: string): Promise<void> {
  const database = await openDatabase({ path: join(folder, 'gateway.db'), clock });
  const store = createAppender(database);
  const nowMs = Date.now();
  const rows = [
    { id: 'gen-1', createdAtMs: nowMs - 3_000, sessionId: 'blue', model: 'acme/one' },
    { id: 'gen-2', createdAtMs: nowMs - 2_000, sessionId: 'red', status: 502, errorMessage: 'it \u001b[31mbroke' },
    { id: 'gen-3', createdAtMs: nowMs - 1_000, sessionId: 'blue', costNanoUsd: null },
    { id: 'gen-old', createdAtMs: nowMs - 48 * 3_600_000, sessionId: 'blue' },
  ];
  for (const row of rows) await store.append(sampleGeneration(row));
  await database.close();
}

test('lists records newest first, filters them, and shows one completely', async (t) => {
  const folder = makeFolder(t);
  await fill(folder);
  const list = async (...flags: readonly string[]): Promise<readonly string[]> => {
    const { code, stdout, stderr } = await captureCli(['generations', 'list', ...flags, '--data-dir', folder]);
    assert.equal(code, 0, stderr);
    return stdout.trimEnd().split('\n');
  };
  const ids = (lines: readonly string[]) => lines.map((line) => /gen-\w+/.exec(line)?.[0]);
  assert.deepEqual(ids(await list()), ['gen-3', 'gen-2', 'gen-1']);
  assert.deepEqual(ids(await list('--session', 'blue')), ['gen-3', 'gen-1']);
  assert.deepEqual(ids(await list('--hours', '72', '--session', 'blue', '--limit', '2')), ['gen-3', 'gen-1']);
  assert.deepEqual(ids(await list('--hours', '72')), ['gen-3', 'gen-2', 'gen-1', 'gen-old']);
  const [failed] = await list('--failed');
  assert.match(failed ?? '', /gen-2 {2}502 .*it {2}\[31mbroke/);
  assert.ok(!(failed ?? '').includes('\u001b'), 'no escape sequence reaches the terminal');
  assert.match((await list('--limit', '1'))[0] ?? '', /unknown/);
  const [row] = await list('--limit', '1', '--json');
  assert.match(row ?? '', /^\{"id":"gen-3"/);

  const shown = await captureCli(['generations', 'show', 'gen-2', '--data-dir', folder]);
  assert.match(shown.stdout, /"status": 502/);
});

test('shows a response of a running gateway right after its end', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const messages = [{ role: 'user', content: 'hi' }];
  const response = await gateway.post('/chat/completions', { model: 'sandbox/echo', messages });
  await response.text();
  const id = response.headers.get('x-generation-id') ?? '';
  const flags = ['--data-dir', gateway.dataDir];
  const listed = await captureCli(['generations', 'list', ...flags]);
  assert.ok(listed.stdout.includes(id), listed.stdout);
  assert.equal(listed.stderr, '');
});

test('says what is wrong with a wrong call', async (t) => {
  const folder = makeFolder(t);
  const flags = ['--data-dir', folder];
  for (const [args, code, message] of [
    [['generations'], 2, /say what to do/],
    [['generations', 'show'], 2, /name the id/],
    [['generations', 'list', 'gen-1'], 2, /unexpected argument/],
    [['generations', 'list', '--hours', '0'], 2, /--hours: must be a number/],
    [['generations', 'list', '--limit', 'x'], 2, /--limit: must be a number/],
    [['generations', 'list'], 1, /There is no database/],
  ] as const) {
    const result = await captureCli([...args, ...flags]);
    assert.equal(result.code, code);
    assert.match(result.stderr, message);
  }
  await fill(folder);
  const unknown = await captureCli(['generations', 'show', 'gen-x', ...flags]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /There is no generation gen-x/);
});
