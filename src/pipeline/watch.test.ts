import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createWatch } from './watch.ts';

function withTimers(run: (tick: (ms: number) => void, expired: string[]) => void): void {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    run((ms) => mock.timers.tick(ms), []);
  } finally {
    mock.timers.reset();
  }
}

test('a limit runs out once and is remembered', () => {
  withTimers((tick, expired) => {
    const watch = createWatch((clock) => expired.push(clock));
    watch.arm('headers', 100);
    tick(99);
    assert.deepEqual(expired, []);
    tick(1);
    assert.deepEqual(expired, ['headers']);
    assert.equal(watch.expired, 'headers');
  });
});

test('arming the next limit stops the one before', () => {
  withTimers((tick, expired) => {
    const watch = createWatch((clock) => expired.push(clock));
    watch.arm('headers', 100);
    watch.arm('first-token', 500);
    tick(400);
    assert.deepEqual(expired, []);
    tick(100);
    assert.deepEqual(expired, ['first-token']);
  });
});

test('a slow caller does not make the provider idle', () => {
  withTimers((tick, expired) => {
    const watch = createWatch((clock) => expired.push(clock));
    watch.arm('idle', 100);
    watch.hold(true);
    tick(500);
    assert.deepEqual(expired, []);
  });
});

test('a disarmed watch never runs out, not even when it is armed again', () => {
  withTimers((tick, expired) => {
    const watch = createWatch((clock) => expired.push(clock));
    watch.arm('whole', 100);
    watch.disarm();
    watch.arm('idle', 100);
    tick(500);
    assert.deepEqual(expired, []);
  });
});
