import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { transportFailure } from '../canonical/classify-failure.ts';
import { systemClock } from '../lib/clock.ts';
import type { News } from '../store/shared/contract.ts';
import { createHealth, type Health } from './health.ts';
import { shareHealth } from './shared-health.ts';

const NAME = 'alpha one';

/** Processes that hear each other at once. */
function createProcesses(count: number) {
  const listeners: ((message: string) => void)[] = [];
  const messages: string[] = [];
  const healths = Array.from({ length: count }, (_, self): Health => {
    const news: News = {
      announce(_topic, message) {
        messages.push(message);
        for (const [at, listener] of listeners.entries()) if (at !== self) listener(message);
      },
      subscribe: (_topic, listener) => void listeners.push(listener),
    };
    return shareHealth({ health: createHealth({ clock: systemClock }), news, tellEveryMs: 1 });
  });
  const [one, other] = healths;
  assert.ok(one !== undefined && other !== undefined);
  return { one, other, messages, say: (message: string) => listeners.forEach((listener) => listener(message)) };
}

async function told(): Promise<void> {
  await wait(20);
}

suite('health of several processes', () => {
  test('a circuit that one opens is open to the others, and so is its recovery', async () => {
    const { one, other } = createProcesses(2);
    for (let count = 0; count < 3; count++) one.failed(NAME, transportFailure('reset'), 'free');
    await told();
    assert.equal(one.look(NAME).open, true);
    assert.equal(other.look(NAME).open, true);
    other.succeeded(NAME, 'probe');
    await told();
    assert.equal(one.look(NAME).rank, 0);
  });

  test('a circuit opens by the failures of all, in a row', async () => {
    const { one, other } = createProcesses(2);
    one.failed(NAME, transportFailure('reset'), 'free');
    await told();
    other.failed(NAME, transportFailure('reset'), 'free');
    await told();
    one.succeeded(NAME, 'free');
    await told();
    other.failed(NAME, transportFailure('reset'), 'free');
    await told();
    assert.deepEqual([one.look(NAME).open, other.look(NAME).open], [false, false]);
  });

  test('who rests for one rests for all, as long as its upstream said', async () => {
    const { one, other } = createProcesses(2);
    const limited = { ...transportFailure('reset'), kind: 'status', status: 429, upstreamStatus: 429 } as const;
    one.failed(NAME, { ...limited, errorType: 'rate_limit_exceeded', retryAfterMs: 60_000 }, 'free');
    await told();
    const cooldown = other.look(NAME).cooldown;
    assert.equal(cooldown?.named, true);
    assert.ok((cooldown?.untilMs ?? 0) > systemClock.monotonicMs() + 50_000);
  });

  test('a thousand successes are one word, and nothing is told twice', async () => {
    const { one, messages } = createProcesses(3);
    for (let count = 0; count < 1_000; count++) one.succeeded(NAME, 'free');
    await told();
    assert.deepEqual(messages, [JSON.stringify([[NAME, 'ok', 1_000]])]);
  });

  test('what is told at once is bounded', async () => {
    const { one, messages } = createProcesses(2);
    for (let count = 0; count < 5_000; count++) one.failed(`${NAME} ${count}`, transportFailure('reset'), 'free');
    await told();
    assert.ok(messages.every((message) => message.length < 65_536));
  });

  test('of what cannot be read only that is left out', () => {
    const { one, say } = createProcesses(2);
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
    for (const message of ['', 'null', '{}', '[[', JSON.stringify(bad)]) say(message);
    assert.equal(one.look(NAME).open, false);
    say(JSON.stringify([...bad, good, good, good]));
    assert.equal(one.look(NAME).open, true);
  });
});
