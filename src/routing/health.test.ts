import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHealth } from './health.ts';

function start(): { health: ReturnType<typeof createHealth>; pass: (ms: number) => void } {
  let now = 0;
  const health = createHealth({ clock: { nowMs: () => now, monotonicMs: () => now } });
  return { health, pass: (ms) => (now += ms) };
}

test('a cooldown only ever grows longer', () => {
  const { health, pass } = start();
  health.cool('p m', 1_000, true);
  health.cool('p m', 200, false);
  pass(500);
  assert.equal(health.cooldown('p m')?.untilMs, 1_000);
  health.cool('p m', 2_000, false);
  assert.deepEqual(health.cooldown('p m'), { untilMs: 2_500, named: true });
});

test('an endpoint may be tried again when its time is over, or when it answered', () => {
  const { health, pass } = start();
  health.cool('p m', 1_000, true);
  pass(1_000);
  assert.equal(health.cooldown('p m'), undefined);
  health.cool('p m', 1_000, true);
  health.recover('p m');
  assert.equal(health.cooldown('p m'), undefined);
});

test('endpoints beyond the bound push out the oldest', () => {
  const { health } = start();
  for (let index = 0; index <= 10_000; index++) health.cool(`p ${index}`, 1_000, true);
  assert.equal(health.cooldown('p 0'), undefined);
  assert.ok(health.cooldown('p 1'));
});
