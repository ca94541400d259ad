import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { withinTime } from './time-limit.ts';

const LIMIT_MS = 100;

function beBusy(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

suite('a time limit', () => {
  test('does not count what a busy process could not read', async () => {
    const answer = Promise.withResolvers<string>();
    const awaited = withinTime(answer.promise, LIMIT_MS);
    for (let round = 0; round < 5; round++) {
      beBusy(LIMIT_MS * 0.4);
      await turn();
    }
    answer.resolve('answer');
    assert.equal(await awaited, 'answer');
  });

  test('ends what nobody answers', async () => {
    const startedMs = performance.now();
    await assert.rejects(withinTime(new Promise(() => undefined), LIMIT_MS), /No answer within 100 ms/);
    assert.ok(performance.now() - startedMs >= LIMIT_MS - 1);
  });

  test('passes on what the promise is rejected with', async () => {
    await assert.rejects(withinTime(Promise.reject(new Error('refused')), LIMIT_MS), /refused/);
  });
});
