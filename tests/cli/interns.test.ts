import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { captureCli } from '../support/cli/capture-cli.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';

async function setUp(t: TestContext) {
  const dataDir = makeFolder(t);
  const config = join(dataDir, 'gateway.yaml');
  writeFileSync(config, 'interns: { enabled: true }\n');
  const env = { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY };
  const gateway = await startGateway(t, { dataDir, args: ['--config', config], env });
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${gateway.url}/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { runId: response.headers.get('x-run-id') ?? '', text: await response.text() };
  };
  const interns = (...args: readonly string[]) =>
    captureCli(['interns', ...args, '--data-dir', dataDir, '--config', config]);
  const schedules = [{ id: 'new-year', cron: '0 6 1 1 *', tz: 'Europe/Vienna', prompt: 'Tidy up.' }];
  const tools = [{ type: 'service:web_fetch' }];
  const body = { name: 'Librarian', model: 'sandbox/tools', tools, schedules, provision: true };
  const [, id = ''] = /"id":"([^"]+)"/.exec((await call('/interns', body)).text) ?? [];
  /** Begins a run, and returns once it waits. */
  const ask = async () => {
    const message = { stream: true, messages: [{ role: 'user', content: 'fetch it' }] };
    const { runId, text } = await call(`/interns/${id}/chat/completions`, message);
    const [, callId = ''] = /"id":"(call_[^"]+)"/.exec(text) ?? [];
    return { runId, callId };
  };
  const stateOf = async (runId: string) =>
    /"state":"([^"]+)"/.exec((await call(`/interns/${id}/runs/${runId}`)).text)?.[1];
  return { id, interns, ask, stateOf, dataDir };
}

// @spec intern-13
test('decides on what waits while the gateway runs, and tells a run', async (t) => {
  const { id, interns, ask, stateOf, dataDir } = await setUp(t);
  assert.match(
    (await interns('list')).stdout,
    new RegExp(`^${id} {2}running {2}sandbox/tools {2}5 USD daily {2}Librarian\n$`),
  );
  const preview = await interns('schedule-preview', id);
  assert.match(
    preview.stdout,
    /^new-year {2}0 6 1 1 \* {2}Europe\/Vienna {2}on\n( {3}\d{4}-01-01T05:00:00\.000Z\n){5}$/,
  );
  const denied = await ask();
  assert.match((await interns('waiting')).stdout, new RegExp(`^${denied.callId} {2}permission {2}.*"input":`));
  assert.deepEqual(await interns('deny', denied.callId), { code: 0, stdout: '', stderr: '' });
  for (let tries = 0; tries < 400 && (await stateOf(denied.runId)) !== 'done'; tries++) await sleep(50);
  assert.equal(await stateOf(denied.runId), 'done');
  assert.match((await interns('show', denied.runId)).stdout, /user {2}fetch it\n(?:.*\n)*.*denied by the operator/);
  assert.equal((await interns('approve', denied.callId)).code, 1);

  const cancelled = await ask();
  assert.equal((await interns('cancel', cancelled.runId)).code, 0);
  assert.equal(await stateOf(cancelled.runId), 'cancelled');
  assert.equal((await interns('waiting')).stdout, '');
  assert.match((await interns('runs', id)).stdout, /cancelled(?:.*\n)+.*done/);
  const audit = await captureCli(['audit', '--data-dir', dataDir]);
  assert.match(audit.stdout, /interns deny/);
  assert.match(audit.stdout, /interns cancel/);
});

test('rejects a wrong call', async (t) => {
  const dataDir = makeFolder(t);
  for (const args of [
    [],
    ['sing'],
    ['show'],
    ['list', 'x'],
    ['deny', 'x', 'y'],
    ['deny', 'x', '--session'],
    ['list', '--workspace', 'x'],
  ])
    assert.equal((await captureCli(['interns', ...args, '--data-dir', dataDir])).code, 2, args.join(' '));
});
