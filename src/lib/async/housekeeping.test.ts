import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createHousekeeping } from './housekeeping.ts';

suite('housekeeping', () => {
  test('does piece after piece while there is more, then waits for the next round', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let pieces = 0;
    const work = () => Promise.resolve(++pieces % 3 !== 0);
    const job = createHousekeeping({ work, everyMs: 1_000, pauseMs: 10, onFailed: () => assert.fail('nothing fails') });
    const pass = async (ms: number): Promise<void> => {
      t.mock.timers.tick(ms);
      await new Promise((resolve) => setImmediate(resolve));
    };
    job.start();
    assert.equal(pieces, 0, 'nothing is done at once');
    await pass(1_000);
    await pass(10);
    await pass(10);
    assert.equal(pieces, 3);
    await pass(999);
    assert.equal(pieces, 3, 'it rests');
    await pass(1);
    assert.equal(pieces, 4);
    await job.stop();
    await pass(10_000);
    assert.equal(pieces, 4);
  });

  test('reports a failure and continues with the next round', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const failures: unknown[] = [];
    const job = createHousekeeping({
      work: () => Promise.reject(new Error('no disk')),
      everyMs: 1_000,
      pauseMs: 10,
      onFailed: (error) => failures.push(error),
    });
    job.start();
    for (let round = 0; round < 2; round++) {
      t.mock.timers.tick(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(failures.length, 2);
    await job.stop();
  });

  test('stops after the piece under way', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const began = Promise.withResolvers<void>();
    const job = createHousekeeping({
      work() {
        began.resolve();
        return promise;
      },
      everyMs: 1,
      pauseMs: 1,
      onFailed: () => assert.fail('nothing fails'),
    });
    job.start();
    // Its own timer keeps no process alive.
    const alive = setInterval(() => undefined, 1_000);
    await began.promise;
    let stopped = false;
    const stopping = job.stop().then(() => (stopped = true));
    await new Promise((next) => setImmediate(next));
    assert.equal(stopped, false);
    resolve(true);
    await stopping;
    clearInterval(alive);
    assert.equal(stopped, true);
  });
});
