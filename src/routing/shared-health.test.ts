import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { timeoutFailure, transportFailure } from '../canonical/failure/classify-failure.ts';
import { systemClock } from '../lib/clock.ts';
import type { InvalidationBus } from '../state/contract.ts';
import { createHealth, type Health } from './health.ts';
import { shareHealth } from './shared-health.ts';

const NAME = 'alpha one';

/** Processes that hear each other at once. */
function createProcesses(count: number) {
  const listeners: ((message: string) => void)[] = [];
  const messages: string[] = [];
  const healths = Array.from({ length: count }, (_, self): Health => {
    const invalidations: InvalidationBus = {
      announce(_topic, message) {
        messages.push(message);
        for (const [at, listener] of listeners.entries()) if (at !== self) listener(message);
      },
      subscribe: (_topic, listener) => void listeners.push(listener),
    };
    return shareHealth({ health: createHealth({ clock: systemClock }), invalidations, reportEveryMs: 1 });
  });
  const [one, other] = healths;
  assert.ok(one !== undefined && other !== undefined);
  return { one, other, messages, emit: (message: string) => listeners.forEach((listener) => listener(message)) };
}

async function reported(): Promise<void> {
  await wait(20);
}

suite('health of several processes', () => {
  // @spec fallback-23
  test('share an open circuit, and its recovery', async () => {
    const { one, other } = createProcesses(2);
    for (let count = 0; count < 3; count++) one.failed(NAME, transportFailure('reset'), 'free');
    await reported();
    assert.equal(one.look(NAME).open, true);
    assert.equal(other.look(NAME).open, true);
    other.succeeded(NAME, 'probe');
    await reported();
    assert.equal(one.look(NAME).rank, 0);
  });

  test('forget an endpoint in all of them with a reset of one', async () => {
    const { one, other } = createProcesses(2);
    for (let count = 0; count < 3; count++) one.failed(NAME, transportFailure('reset'), 'free');
    await reported();
    assert.equal(one.reset(NAME), true);
    await reported();
    assert.deepEqual([one.look(NAME).open, other.look(NAME).open], [false, false]);
    // It stays listed, as one that nothing is known of.
    const report = { endpoint: NAME, open: false, rank: 0, streak: 0 };
    assert.deepEqual(other.list(), [report]);
    assert.equal(one.reset('beta two'), false, 'it was never called');
  });

  test('open a circuit by the failures of all, in a row', async () => {
    const { one, other } = createProcesses(2);
    one.failed(NAME, transportFailure('reset'), 'free');
    await reported();
    other.failed(NAME, transportFailure('reset'), 'free');
    await reported();
    one.succeeded(NAME, 'free');
    await reported();
    other.failed(NAME, transportFailure('reset'), 'free');
    await reported();
    assert.deepEqual([one.look(NAME).open, other.look(NAME).open], [false, false]);
  });

  test('put an endpoint behind others everywhere after a cut, and open its circuit nowhere', async () => {
    const { one, other } = createProcesses(2);
    for (let count = 0; count < 30; count++) other.succeeded(NAME, 'free');
    await reported();
    for (let count = 0; count < 4; count++) one.failed(NAME, timeoutFailure('headers', 10_000), 'free');
    await reported();
    for (const health of [one, other]) assert.deepEqual([health.look(NAME).rank, health.look(NAME).open], [1, false]);
  });

  // @spec fallback-23
  test('share a cooldown for as long as the upstream said', async () => {
    const { one, other } = createProcesses(2);
    const limited = { ...transportFailure('reset'), kind: 'status', status: 429, upstreamStatus: 429 } as const;
    one.failed(NAME, { ...limited, errorType: 'rate_limit_exceeded', retryAfterMs: 60_000 }, 'free');
    await reported();
    const cooldown = other.look(NAME).cooldown;
    assert.equal(cooldown?.named, true);
    assert.ok((cooldown?.untilMs ?? 0) > systemClock.monotonicMs() + 50_000);
  });

  test('publish a thousand successes as one message, and nothing twice', async () => {
    const { one, messages } = createProcesses(3);
    for (let count = 0; count < 1_000; count++) one.succeeded(NAME, 'free');
    await reported();
    assert.deepEqual(messages, [JSON.stringify([[NAME, 'ok', 1_000]])]);
  });

  test('limit the size of a message', async () => {
    const { one, messages } = createProcesses(2);
    for (let count = 0; count < 5_000; count++) one.failed(`${NAME} ${count}`, transportFailure('reset'), 'free');
    await reported();
    assert.ok(messages.every((message) => message.length < 65_536));
  });

  test('drop only the unreadable part of a message', () => {
    const { one, emit } = createProcesses(2);
    const good = [NAME, 'failed', { kind: 'reset', errorType: 'provider_unavailable', status: 502 }];
    const bad = [
      null,
      [],
      [1, 'ok', 1],
      [NAME, 'ok', -1],
      [NAME, 'ok', '1'],
      [NAME, 'failed', null],
      [NAME, 'failed', { kind: 'new', errorType: 'provider_unavailable', status: 502 }],
      [NAME, 'failed', { kind: 'reset', errorType: 'constructor', status: 502 }],
      [NAME, 'failed', { kind: 'reset', errorType: 'provider_unavailable', status: 502, retryAfterMs: 'soon' }],
    ];
    for (const message of ['', 'null', '{}', '[[', JSON.stringify(bad)]) emit(message);
    assert.equal(one.look(NAME).open, false);
    emit(JSON.stringify([...bad, good, good, good]));
    assert.equal(one.look(NAME).open, true);
  });
});

test('keep a circuit closed after a late timeout when the endpoint has responded since', async () => {
  const { one, other } = createProcesses(2);
  other.succeeded(NAME, 'free');
  for (let count = 0; count < 3; count++) one.failed(NAME, { ...timeoutFailure('headers'), lastedMs: 20_000 }, 'free');
  await reported();
  assert.equal(other.look(NAME).open, false);
});
