import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { suite, test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dropRest, type LingerLimits } from './linger.ts';

const LIMITS: LingerLimits = { idleMs: 10_000, totalMs: 10_000, bytesMax: 1_000 };

/** A request whose body has not come, and how often and how its rest ended. */
function begin(t: TestContext, limits: Partial<LingerLimits> = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const body = Object.assign(new Readable({ read: () => undefined }), { complete: false });
  const ends: boolean[] = [];
  dropRest(body as unknown as IncomingMessage, (isWhole) => ends.push(isWhole), { ...LIMITS, ...limits });
  const send = async (bytes: number): Promise<void> => {
    body.push(Buffer.alloc(bytes));
    await nextTurn();
  };
  const pass = async (ms: number): Promise<void> => {
    t.mock.timers.tick(ms);
    await nextTurn();
    await nextTurn();
  };
  return { body, ends, send, pass };
}

suite('the rest of a body whose request was answered', () => {
  test('is read to its end', async (t) => {
    const { body, ends, send, pass } = begin(t);
    await send(900);
    assert.deepEqual(ends, []);
    body.complete = true;
    body.push(null);
    await nextTurn();
    await pass(10_000);
    assert.deepEqual(ends, [true]);
  });

  test('is read up to a number of bytes', async (t) => {
    const { ends, send } = begin(t);
    await send(1_000);
    assert.deepEqual(ends, []);
    await send(1);
    await send(1);
    assert.deepEqual(ends, [false]);
  });

  test('is waited for while nothing comes, for a moment', async (t) => {
    const { ends, pass } = begin(t, { idleMs: 1_000 });
    await pass(999);
    assert.deepEqual(ends, []);
    await pass(1);
    assert.deepEqual(ends, [false]);
  });

  test('is not given up for a pause in which this process was busy', async (t) => {
    const { body, ends, pass } = begin(t, { idleMs: 1_000 });
    body.push(Buffer.alloc(1));
    await pass(1_000);
    assert.deepEqual(ends, []);
  });

  test('is read for no longer than in all', async (t) => {
    const { ends, send, pass } = begin(t, { totalMs: 3_000 });
    await pass(2_999);
    await send(1);
    assert.deepEqual(ends, []);
    await pass(1);
    assert.deepEqual(ends, [false]);
  });
});
