import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { createLoopTurns } from './loop-turns.ts';

test('begins one step in a turn of the event loop, first in, first out', async () => {
  const turns = createLoopTurns({ clock: { monotonicMs: () => 0 } });
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const begun: (readonly [step: string, turn: number])[] = [];
  const work = async (name: string): Promise<void> => {
    for (const step of [1, 2, 3]) {
      await turns.next();
      begun.push([`${name}${step}`, turn]);
    }
  };
  await Promise.all([work('a'), work('b'), work('c')]);
  isOver = true;
  assert.deepEqual(
    begun.map(([step]) => step),
    ['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3', 'b3', 'c3'],
  );
  assert.equal(new Set(begun.map(([, at]) => at)).size, begun.length, 'two steps began in one turn');
});

test('pauses after a long step for as long as it took, up to a maximum', async (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  const turns = createLoopTurns({ clock: { monotonicMs: () => nowMs } });
  const held = async (ms: number): Promise<void> => {
    await turns.next();
    nowMs += ms;
  };
  for (const [stepMs, restMs] of [
    [30, 30],
    [4_000, 100],
  ] as const) {
    await held(stepMs);
    let hasBegun = false;
    const second = turns.next().then(() => void (hasBegun = true));
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    t.mock.timers.tick(restMs - 1);
    await nextTurn();
    assert.equal(hasBegun, false);
    t.mock.timers.tick(1);
    await second;
    await nextTurn();
  }
});
