import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { classifyStatus, timeoutFailure, transportFailure } from '../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../canonical/failure/failure.ts';
import { createHealth, type Health } from './health.ts';

interface Bench {
  readonly health: Health;
  readonly counted: boolean[];
  readonly pass: (ms: number) => void;
  /** One request to the endpoint. @returns the kind of its permission */
  readonly ask: (failure?: UpstreamFailure) => string;
}

function start(): Bench {
  let now = 1_000_000;
  const counted: boolean[] = [];
  const health = createHealth({
    clock: { nowMs: () => now, monotonicMs: () => now },
    onCounted: (_endpoint, isOk) => counted.push(isOk),
  });
  return {
    health,
    counted,
    pass: (ms) => (now += ms),
    ask(failure) {
      const release = health.begin('p m');
      if (release === 'busy' || release === 'cooldown') return release;
      if (failure === undefined) health.succeeded('p m', release);
      else health.failed('p m', failure, release);
      return release;
    },
  };
}

const failureOf = (status: number, retryAfterMs?: number): UpstreamFailure => ({
  ...classifyStatus(status, {}),
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const BROKEN = failureOf(500);

suite('a cooldown', () => {
  // @spec fallback-17
  test('is only ever extended', () => {
    const { health, pass, ask } = start();
    ask(failureOf(429, 1_000));
    pass(100);
    health.failed('p m', failureOf(429, 200), 'free');
    pass(500);
    assert.equal(health.look('p m').cooldown?.untilMs, 1_001_000);
    health.failed('p m', failureOf(429, 2_000), 'free');
    assert.deepEqual(health.look('p m').cooldown, { untilMs: 1_002_600, named: true });
  });

  // @spec fallback-18
  test('allows no call before the time that the upstream gave', () => {
    const { pass, ask } = start();
    assert.equal(ask(failureOf(429, 30_000)), 'free');
    assert.equal(ask(), 'cooldown');
    pass(29_999);
    assert.equal(ask(), 'cooldown');
    pass(1);
    assert.equal(ask(), 'probe');
    assert.equal(ask(), 'free');
  });

  // @spec fallback-17
  test('puts the endpoint last where no time was given, and does not close it: a single 429 blackholes no model', () => {
    const { health, ask } = start();
    ask(failureOf(429));
    assert.deepEqual(health.look('p m').cooldown, { untilMs: 1_005_000, named: false });
    assert.equal(ask(), 'free');
  });

  test('allows one call first after its end, and the others after its response', () => {
    const { health, pass, ask } = start();
    ask(failureOf(429, 1_000));
    pass(1_000);
    assert.deepEqual(health.look('p m'), { rank: 1, open: false, probeDue: true });
    assert.equal(health.begin('p m'), 'probe');
    assert.equal(health.look('p m').probeDue, false, 'one at a time');
    health.succeeded('p m', 'probe');
    assert.equal(health.look('p m').rank, 0);
  });

  test('is there after an overload, too, and after a 503 that names a time', () => {
    for (const failure of [failureOf(529), failureOf(529, 700), failureOf(503, 700)]) {
      const { health, ask } = start();
      ask(failure);
      assert.ok(health.look('p m').cooldown);
    }
    const { health, ask } = start();
    ask(failureOf(503));
    assert.equal(health.look('p m').cooldown, undefined);
  });
});

suite('an outage', () => {
  // @spec fallback-19
  test('is half of few requests, or a fifth of many, in the last 30 seconds', () => {
    const few = start();
    few.ask();
    few.ask();
    few.ask(BROKEN);
    assert.equal(few.health.look('p m').rank, 0);
    few.ask(BROKEN);
    assert.equal(few.health.look('p m').rank, 2);
    few.pass(35_000);
    assert.equal(few.health.look('p m').rank, 0, 'nobody remembers it after 30 seconds');
    const many = start();
    for (let index = 0; index < 40; index++) many.ask(index % 4 === 3 ? BROKEN : undefined);
    assert.equal(many.health.look('p m').rank, 2);
  });

  // @spec fallback-21
  test('is not what the request itself, a limit or a hang-up caused', () => {
    const { health, counted, ask } = start();
    for (const status of [400, 403, 413, 422, 429, 451]) ask(failureOf(status));
    ask(timeoutFailure('total'));
    ask({ ...BROKEN, kind: 'unsayable', status: 422 });
    assert.deepEqual(counted, []);
    assert.equal(health.look('p m').open, false);
    const { ask: next, counted: against } = start();
    for (const status of [401, 402, 404, 500, 502, 503, 529]) next(failureOf(status));
    assert.ok(against.length > 0 && against.every((isOk) => !isOk));
    const silent = start();
    silent.ask(timeoutFailure('first-token'));
    silent.ask(transportFailure('connect'));
    assert.deepEqual(silent.counted, [false, false]);
  });

  // @spec fallback-21
  test('is an answer that breaks off after it had begun', () => {
    const { health, ask } = start();
    ask();
    health.brokeOff('p m', transportFailure('reset'));
    assert.equal(health.look('p m').rank, 2);
  });
});

suite('uptime over 5 minutes', () => {
  /** Failures thin enough to be no outage. */
  function live(failEvery: number): Bench {
    const bench = start();
    for (let index = 1; index <= 200; index++) {
      if (index % failEvery === 0) bench.health.failed('p m', BROKEN, 'free');
      else bench.health.succeeded('p m', 'free');
      bench.pass(1_000);
    }
    bench.pass(31_000);
    return bench;
  }

  // @spec fallback-20
  test('ranks from 95 percent as normal, from 80 as degraded, below as failing', () => {
    assert.equal(live(25).health.look('p m').rank, 0);
    assert.equal(live(10).health.look('p m').rank, 1);
    const { health, pass, ask } = start();
    for (let index = 0; index < 120; index++) ask(index % 3 === 0 ? BROKEN : undefined);
    pass(31_000);
    assert.equal(health.look('p m').rank, 2);
  });

  test('is forgotten at a successful probe', () => {
    const { health, ask } = live(10);
    assert.equal(health.look('p m').probeDue, true);
    assert.equal(ask(), 'probe');
    assert.equal(health.look('p m').rank, 0);
  });

  // @spec fallback-20
  test('counts from a hundred requests on', () => {
    const { health, pass, ask } = start();
    for (let index = 0; index < 99; index++) ask(index % 8 === 0 ? BROKEN : undefined);
    pass(31_000);
    assert.equal(health.look('p m').rank, 0);
  });
});

suite('a circuit', () => {
  // @spec fallback-22
  test('opens after three failures in a row, lets one probe at a time pass, and closes on its success', () => {
    const { health, pass, ask } = start();
    for (let index = 0; index < 3; index++) assert.equal(ask(BROKEN), 'free');
    assert.equal(health.look('p m').open, true);
    assert.equal(health.begin('p m'), 'probe');
    assert.equal(health.begin('p m'), 'busy');
    health.failed('p m', BROKEN, 'probe');
    assert.equal(health.begin('p m'), 'busy', 'not at once again');
    pass(250);
    assert.equal(ask(), 'probe');
    assert.deepEqual(health.look('p m'), { rank: 0, open: false, probeDue: false });
  });

  test('is not closed by an answer that was on its way when it opened', () => {
    const { health, ask } = start();
    for (let index = 0; index < 3; index++) ask(BROKEN);
    health.succeeded('p m', 'free');
    assert.equal(health.look('p m').open, true);
  });

  // @spec fallback-22
  test('is probed later each time, and never later than after 25 seconds', () => {
    const { health, pass, ask } = start();
    for (let index = 0; index < 3; index++) ask(BROKEN);
    for (const seconds of [5, 10, 20, 25, 25, 25]) {
      pass(seconds * 1_000 - 1);
      assert.equal(health.look('p m').probeDue, false, `${seconds}`);
      pass(1);
      assert.equal(health.look('p m').probeDue, true, `${seconds}`);
      assert.equal(ask(BROKEN), 'probe');
    }
  });

  test('stays as it was when its probe was given up', () => {
    const { health, pass, ask } = start();
    for (let index = 0; index < 3; index++) ask(BROKEN);
    pass(5_000);
    assert.equal(health.begin('p m'), 'probe');
    health.abandoned('p m', 'probe');
    assert.deepEqual(health.look('p m'), { rank: 2, open: true, probeDue: true });
  });
});

test('drops the endpoint that was unused for longest beyond the bound', () => {
  const { health } = start();
  for (let index = 0; index <= 10_000; index++) health.failed(`p ${index}`, BROKEN, 'free');
  assert.equal(health.look('p 0').rank, 0);
  assert.equal(health.look('p 1').rank, 2);
});

suite('attempts that an adaptive deadline cut', () => {
  const CUT = timeoutFailure('first-token', 10_000);

  test('put the endpoint behind the others at once, and its next answer back among them', () => {
    const { health, ask, pass } = start();
    for (let request = 0; request < 30; request++) ask();
    ask(CUT);
    assert.deepEqual(health.look('p m'), { rank: 1, open: false, probeDue: false });
    pass(5_000);
    assert.equal(health.look('p m').probeDue, true);
    ask();
    assert.equal(health.look('p m').rank, 0);
  });

  test('never open its circuit', () => {
    const { health, ask } = start();
    for (let request = 0; request < 50; request++) ask(CUT);
    const { rank, open } = health.look('p m');
    assert.deepEqual([rank, open], [2, false]);
    assert.equal(ask(), 'free');
  });

  test('count as failures in its uptime', () => {
    const { counted, ask } = start();
    ask(CUT);
    assert.deepEqual(counted, [false]);
  });
});

suite('a late timeout, of an attempt that began before the endpoint answered again,', () => {
  const LATE = { ...timeoutFailure('headers'), lastedMs: 20_000 };

  test('neither opens the circuit again nor puts the endpoint behind others', () => {
    const { health, pass, ask } = start();
    for (let request = 0; request < 3; request++) ask(BROKEN);
    pass(5_000);
    assert.equal(ask(), 'probe');
    pass(1_000);
    for (let request = 0; request < 10; request++) health.failed('p m', LATE, 'free');
    assert.deepEqual(health.look('p m'), { rank: 0, open: false, probeDue: false });
  });

  test('opens no circuit where the endpoint answered without a probe', () => {
    const { health, pass, ask } = start();
    pass(1_000);
    ask();
    for (let request = 0; request < 10; request++) health.failed('p m', LATE, 'free');
    assert.equal(health.look('p m').open, false);
  });

  test('counts in its uptime', () => {
    const { health, counted, ask } = start();
    ask();
    health.failed('p m', LATE, 'free');
    assert.deepEqual(counted, [true, false]);
  });

  test('is distinguished from one of an attempt that began after the response', () => {
    const { health, pass, ask } = start();
    for (let request = 0; request < 3; request++) ask(BROKEN);
    pass(5_000);
    assert.equal(ask(), 'probe');
    pass(20_000);
    for (let request = 0; request < 3; request++) health.failed('p m', LATE, 'free');
    assert.equal(health.look('p m').open, true);
  });

  test('is distinguished from a connection that breaks now', () => {
    const { health, pass, ask } = start();
    pass(1_000);
    ask();
    for (let request = 0; request < 3; request++)
      health.failed('p m', { ...transportFailure('reset'), lastedMs: 20_000 }, 'free');
    assert.equal(health.look('p m').open, true);
  });
});

suite('a reset', () => {
  test('forgets the failures of an endpoint, which stays listed, and knows no other', () => {
    const { health, ask } = start();
    for (let request = 0; request < 3; request++) ask(BROKEN);
    assert.deepEqual([health.look('p m').open, health.reset('p m'), health.look('p m').open], [true, true, false]);
    assert.deepEqual(health.list(), [{ endpoint: 'p m', rank: 0, open: false, streak: 0 }]);
    assert.deepEqual([health.reset('p other'), health.list().length], [false, 1]);
  });
});
