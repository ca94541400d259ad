import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Watch } from './watchdog.ts';

function withTimers(run: (tick: (ms: number) => void, expired: string[]) => void): void {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    run((ms) => mock.timers.tick(ms), []);
  } finally {
    mock.timers.reset();
  }
}

test('runs out once and remembers it', () => {
  withTimers((tick, expired) => {
    const watch = new Watch((clock) => expired.push(clock));
    watch.arm('headers', 100);
    tick(99);
    assert.deepEqual(expired, []);
    tick(1);
    assert.deepEqual(expired, ['headers']);
    assert.equal(watch.expired, 'headers');
  });
});

test('stops the limit before when the next one is armed', () => {
  withTimers((tick, expired) => {
    const watch = new Watch((clock) => expired.push(clock));
    watch.arm('headers', 100);
    watch.arm('first-token', 500);
    tick(400);
    assert.deepEqual(expired, []);
    tick(100);
    assert.deepEqual(expired, ['first-token']);
  });
});

// @spec stream-31
test('does not count a slow caller as an idle provider', () => {
  withTimers((tick, expired) => {
    const watch = new Watch((clock) => expired.push(clock));
    watch.arm('idle', 100);
    watch.hold(true);
    tick(500);
    assert.deepEqual(expired, []);
  });
});

test('never runs out after it is disarmed, not even when it is armed again', () => {
  withTimers((tick, expired) => {
    const watch = new Watch((clock) => expired.push(clock));
    watch.arm('whole', 100);
    watch.disarm();
    watch.arm('idle', 100);
    tick(500);
    assert.deepEqual(expired, []);
  });
});

test('cuts before the limit while an alternative is left, and marks the cut', () => {
  withTimers((tick, expired) => {
    const watch = new Watch((clock) => expired.push(clock));
    watch.arm('headers', 500, { afterMs: 100, limitMs: 120, hasAlternative: () => true });
    tick(100);
    assert.deepEqual(expired, ['headers']);
    assert.equal(watch.cutAfterMs, 120);
  });
});

test('leaves the attempt the rest of its limit after a cut without an alternative', () => {
  withTimers((tick, expired) => {
    const watch = new Watch((clock) => expired.push(clock));
    watch.arm('headers', 500, { afterMs: 100, limitMs: 100, hasAlternative: () => false });
    tick(100);
    tick(399);
    assert.deepEqual(expired, []);
    tick(1);
    assert.deepEqual(expired, ['headers']);
    assert.equal(watch.cutAfterMs, undefined);
  });
});

test('changes nothing by a cut that is longer than the limit', () => {
  withTimers((tick, expired) => {
    const watch = new Watch((clock) => expired.push(clock));
    watch.arm('whole', 50, { afterMs: 100, limitMs: 100, hasAlternative: () => true });
    tick(50);
    assert.deepEqual(expired, ['whole']);
    assert.equal(watch.cutAfterMs, undefined);
  });
});

test('does not run out a cut while the watch is held', () => {
  withTimers((tick, expired) => {
    const watch = new Watch((clock) => expired.push(clock));
    watch.arm('first-token', 500, { afterMs: 100, limitMs: 100, hasAlternative: () => true });
    watch.hold(true);
    tick(1_000);
    assert.deepEqual(expired, []);
    assert.equal(watch.cutAfterMs, undefined);
  });
});
