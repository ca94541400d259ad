import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { withTimeout } from './with-timeout.ts';

const LIMIT_MS = 100;

function beBusy(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

suite('timeout', () => {
  test('does not count the time in which a busy process could not read', async () => {
    const answer = Promise.withResolvers<string>();
    const awaited = withTimeout(answer.promise, LIMIT_MS);
    for (let round = 0; round < 5; round++) {
      beBusy(LIMIT_MS * 0.4);
      await turn();
    }
    answer.resolve('answer');
    assert.equal(await awaited, 'answer');
  });

  test('rejects when nothing arrives in time', async () => {
    const startedMs = performance.now();
    await assert.rejects(withTimeout(new Promise(() => undefined), LIMIT_MS), /No response within 100 ms/);
    assert.ok(performance.now() - startedMs >= LIMIT_MS - 1);
  });

  test('rejects with the reason of the promise', async () => {
    await assert.rejects(withTimeout(Promise.reject(new Error('refused')), LIMIT_MS), /refused/);
  });
});
