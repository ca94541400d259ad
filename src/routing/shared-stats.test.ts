import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { InvalidationBus } from '../state/contract.ts';
import { shareStats } from './shared-stats.ts';
import { createEndpointStats, type EndpointStats } from './stats.ts';

const clock = { nowMs: () => 0, monotonicMs: () => 0 };
const REPORT_MS = 5;

/** Statistics of so many processes, and the messages between them. */
function processes(count: number) {
  const listeners: ((message: string) => void)[] = [];
  const messages: string[] = [];
  const all = Array.from({ length: count }, (_, at): EndpointStats => {
    const invalidations: InvalidationBus = {
      announce(_topic, message) {
        messages.push(message);
        for (const [to, listener] of listeners.entries()) if (to !== at) listener(message);
      },
      subscribe: (_topic, listener) => void listeners.push(listener),
    };
    return shareStats({ stats: createEndpointStats({ clock }), invalidations, reportEveryMs: REPORT_MS });
  });
  return { all, messages, hear: (message: string) => listeners.forEach((listener) => listener(message)) };
}

const ANSWER = { firstTokenMs: 200, totalMs: 1_000, outputTokens: 50, toolCalls: 'broken' } as const;

test('lists what another process measured as what this one measured', async () => {
  const { all, messages } = processes(2);
  const [one, other] = all;
  for (let count = 0; count < 30; count++) one?.finished('alpha/one', ANSWER);
  one?.finished('beta/one', { ...ANSWER, toolCalls: 'valid' });
  await wait(20 * REPORT_MS);
  assert.equal(messages.length, 1);
  assert.notEqual(other?.listed('alpha/one').latencyLast30m, null);
  assert.deepEqual(other?.listed('alpha/one'), one?.listed('alpha/one'));
  assert.deepEqual(other?.typicalTokens('alpha/one'), one?.typicalTokens('alpha/one'));
  assert.deepEqual(other?.routing('alpha/one')?.quality(), one?.routing('alpha/one')?.quality());
});

test('bounds a message and leaves out what it cannot read', async () => {
  const { all, messages, hear } = processes(1);
  for (let count = 0; count < 1_000; count++) all[0]?.finished('alpha/one', ANSWER);
  await wait(20 * REPORT_MS);
  assert.equal((JSON.parse(messages[0] ?? '') as unknown[]).length, 200);
  for (const message of ['', '{}', '[1]', '[["x"]]', '[["x",-1,1,1,null]]', '[["x",1,1,1,"other"]]']) hear(message);
  assert.equal(all[0]?.routing('x'), undefined);
  hear('[["x",1,1,1,null]]');
  assert.notEqual(all[0]?.routing('x'), undefined);
});
