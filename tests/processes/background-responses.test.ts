import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { textOf } from '../../src/wire/json-fields.ts';
import { makeFolder, startGateway } from '../support/cli/spawn-cli.ts';
import { startWithWorkers } from '../support/cli/workers.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import {
  acceptResponse,
  call,
  ENDLESS,
  hasEnded,
  hasOutput,
  LONG,
  streamOf,
  until,
} from '../support/wire/responses/background.ts';
import { checkStream, lastResponse } from '../support/wire/responses/stream-checker.ts';

interface Place {
  readonly dataDir: string;
  readonly args: readonly string[];
}

function makePlace(t: TestContext, responses = '', rest = ''): Place {
  const dataDir = makeFolder(t);
  const config = join(makeFolder(t), 'gateway.yaml');
  writeFileSync(config, `responses: { store: database, background: true ${responses} }\n${rest}`);
  return { dataDir, args: ['--config', config] };
}

const start = (t: TestContext, place: Place): ReturnType<typeof startGateway> =>
  startGateway(t, { ...place, env: { GATEWAY_API_KEY: API_KEY, GATEWAY_MANAGEMENT_KEY: MANAGEMENT_KEY } });

suite('responses in the background, when the gateway ends', () => {
  // @spec responses-122, responses-126, responses-131, responses-pains-39
  test('are readable after a kill: one with output has failed with it, one without runs again, one that waits runs', async (t) => {
    const place = makePlace(t, ', background_per_key: 2');
    const first = await start(t, place);
    const broken = await acceptResponse(first, ENDLESS);
    const silent = await acceptResponse(first, { model: 'sandbox/slow', input: 'again ms=3000', background: true });
    const waiting = await acceptResponse(first, LONG);
    await until(first, broken, hasOutput);
    await until(first, silent, ({ status }) => status === 'in_progress');
    const seen = await call(first, 'GET', `/responses/${broken}`);
    first.child.kill('SIGKILL');
    await first.exited;

    const second = await start(t, place);
    const failed = await until(second, broken, hasEnded);
    assert.deepEqual(
      [failed['status'], (failed['error'] as { code: string }).code, failed['error_type']],
      ['failed', 'server_error', 'provider_unavailable'],
    );
    assert.ok(textOf(failed['output_text'])?.startsWith(textOf(seen.body['output_text']) ?? '-'), 'with what it had');
    const events = checkStream(await streamOf(second, broken));
    assert.equal(lastResponse(events)['status'], 'failed');
    const { body: charged } = await call(second, 'GET', `/generation?id=${broken}`, undefined, MANAGEMENT_KEY);
    const record = charged['data'] as { cancelled: boolean; usage_source: string; native_tokens_completion: number };
    assert.deepEqual([record.cancelled, record.usage_source], [true, 'estimated']);
    assert.ok(record.native_tokens_completion > 0);

    const again = await until(second, silent, hasEnded);
    assert.equal(again['status'], 'completed');
    const { status, body: found } = await call(second, 'GET', `/generation?id=${silent}`, undefined, MANAGEMENT_KEY);
    const run = found['data'] as { cancelled: boolean; response_id: string; native_tokens_completion: number };
    assert.deepEqual([status, run.cancelled, run.response_id], [200, false, silent], 'its second run');
    const whole = checkStream(await streamOf(second, silent));
    assert.equal(whole.filter(({ name }) => name === 'completed').length, 1);
    assert.equal((await until(second, waiting, hasEnded))['status'], 'completed');
    second.child.kill('SIGTERM');
    await second.exited;
  });

  // @spec responses-123
  test('get the time of the drain, and then fail with their output, or wait for the next start', async (t) => {
    const place = makePlace(t, ', background_per_key: 2', 'server: { drain_seconds: 1 }\n');
    const first = await start(t, place);
    const endless = await acceptResponse(first, ENDLESS);
    const silent = await acceptResponse(first, { model: 'sandbox/slow', input: 'later ms=3000', background: true });
    await until(first, endless, hasOutput);
    await until(first, silent, ({ status }) => status === 'in_progress');
    first.child.kill('SIGTERM');
    assert.equal((await first.exited).code, 0);

    const second = await start(t, place);
    const { body: failed } = await call(second, 'GET', `/responses/${endless}`);
    assert.deepEqual([failed['status'], failed['error_type']], ['failed', 'provider_unavailable']);
    assert.notEqual(failed['output_text'], '');
    assert.equal((await until(second, silent, hasEnded))['status'], 'completed');
    checkStream(await streamOf(second, silent));
  });

  // @spec responses-125
  test('run in one worker, and are read and cancelled through every other', async (t) => {
    const { args } = makePlace(t);
    const gateway = await startWithWorkers(t, args);
    const ids = await Promise.all([1, 2, 3, 4].map(() => acceptResponse(gateway, LONG)));
    const endless = await acceptResponse(gateway, { ...ENDLESS, background: true });
    for (const id of ids) {
      assert.equal((await until(gateway, id, hasEnded))['status'], 'completed');
      checkStream(await streamOf(gateway, id));
    }
    await until(gateway, endless, hasOutput);
    assert.equal((await call(gateway, 'POST', `/responses/${endless}/cancel`)).body['status'], 'cancelled');
  });
});
