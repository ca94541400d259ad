import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { classifyStatus, timeoutFailure, transportFailure } from '../canonical/classify-failure.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import { createHealth, type Health } from './health.ts';

interface Bench {
  readonly health: Health;
  readonly counted: boolean[];
  readonly pass: (ms: number) => void;
  /** One request to the endpoint. @returns how it was allowed to ask */
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
      const leave = health.begin('p m');
      if (leave === 'busy' || leave === 'resting') return leave;
      if (failure === undefined) health.succeeded('p m', leave);
      else health.failed('p m', failure, leave);
      return leave;
    },
  };
}

const failureOf = (status: number, retryAfterMs?: number): UpstreamFailure => ({
  ...classifyStatus(status, {}),
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const BROKEN = failureOf(500);

suite('a cooldown', () => {
  test('only ever grows longer', () => {
    const { health, pass, ask } = start();
    ask(failureOf(429, 1_000));
    pass(100);
    health.failed('p m', failureOf(429, 200), 'free');
    pass(500);
    assert.equal(health.look('p m').cooldown?.untilMs, 1_001_000);
    health.failed('p m', failureOf(429, 2_000), 'free');
    assert.deepEqual(health.look('p m').cooldown, { untilMs: 1_002_600, named: true });
  });

  test('whose time the upstream named lets nobody ask before', () => {
    const { pass, ask } = start();
    assert.equal(ask(failureOf(429, 30_000)), 'free');
    assert.equal(ask(), 'resting');
    pass(29_999);
    assert.equal(ask(), 'resting');
    pass(1);
    assert.equal(ask(), 'probe');
    assert.equal(ask(), 'free');
  });

  test('that nobody named puts the endpoint last, and does not close it: a single 429 blackholes no model', () => {
    const { health, ask } = start();
    ask(failureOf(429));
    assert.deepEqual(health.look('p m').cooldown, { untilMs: 1_005_000, named: false });
    assert.equal(ask(), 'free');
  });

  test('that is over lets one ask first, and the others when that one was answered', () => {
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

  test('counts from a hundred requests on', () => {
    const { health, pass, ask } = start();
    for (let index = 0; index < 99; index++) ask(index % 8 === 0 ? BROKEN : undefined);
    pass(31_000);
    assert.equal(health.look('p m').rank, 0);
  });
});

suite('a circuit', () => {
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

test('endpoints beyond the bound push out the one unused for longest', () => {
  const { health } = start();
  for (let index = 0; index <= 10_000; index++) health.failed(`p ${index}`, BROKEN, 'free');
  assert.equal(health.look('p 0').rank, 0);
  assert.equal(health.look('p 1').rank, 2);
});
