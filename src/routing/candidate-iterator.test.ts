import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { classifyStatus, timeoutFailure } from '../canonical/failure/classify-failure.ts';
import type { UpstreamFailure } from '../canonical/failure/failure.ts';
import { endpointName } from './endpoint-name.ts';
import { createHealth, type Health } from './health.ts';
import { modelOf, priced, routeOf } from '../../tests/support/route-plan.ts';
import { createCandidateIterator, type CandidateIterator } from './candidate-iterator.ts';
import type { RetryRule } from './retry.ts';

const BROKEN = classifyStatus(500, {});

function start(...names: readonly string[]): {
  health: Health;
  candidates: () => CandidateIterator;
  pass: (ms: number) => void;
} {
  return startWith(undefined, ...names);
}

function startWith(retry: RetryRule | undefined, ...names: readonly string[]): ReturnType<typeof start> {
  let now = 1_000_000;
  const clock = { nowMs: () => now, monotonicMs: () => now };
  const health = createHealth({ clock });
  const model = modelOf('acme/one', ...names.map((name) => priced(name, 1)));
  const looks = (): Parameters<typeof routeOf>[1] => ({
    health: Object.fromEntries(model.endpoints.map((one) => [one.provider, health.look(endpointName(one))])),
  });
  return {
    health,
    pass: (ms) => (now += ms),
    candidates: () =>
      createCandidateIterator(
        { health, retryOf: () => retry, monotonicMs: () => now, random: () => 0.5 },
        routeOf([model], looks()),
      ),
  };
}

/** What each step was, until it stops. Every attempt fails. */
function failAll(
  { health, candidates, pass }: ReturnType<typeof start>,
  failure: UpstreamFailure = BROKEN,
  then?: 'after content',
): string[] {
  const steps: string[] = [];
  const one = candidates();
  for (let step = one.next(); step.type !== 'stop'; step = one.next()) {
    if (step.type === 'wait') {
      steps.push(`wait ${Math.round(step.ms)}`);
      pass(step.ms);
    } else {
      steps.push(`${step.release} ${step.candidate.endpoint.provider}`);
      health.failed(endpointName(step.candidate.endpoint), failure, step.release);
      one.failed(failure, then);
    }
  }
  return steps;
}

// @spec fallback-6
test('tries each candidate once, in order, and retries the only candidate once after a delay', () => {
  assert.deepEqual(failAll(start('a', 'b', 'c')), ['free a', 'free b', 'free c']);
  assert.deepEqual(failAll(start('a')), ['free a', 'wait 200', 'free a']);
});

test('skips a candidate that is no longer allowed', () => {
  const { candidates } = start('a', 'b', 'c', 'd');
  const one = candidates();
  const requested: string[] = [];
  for (let step = one.next(); step.type === 'try'; step = one.next()) {
    requested.push(step.candidate.endpoint.provider);
    one.failed(BROKEN);
    if (requested.length === 2) one.narrow(({ endpoint }) => endpoint.provider === 'd');
  }
  assert.deepEqual(requested, ['a', 'b', 'd']);
});

test('lets one request at a time probe when all circuits are open; the others wait a little and give up', () => {
  const parts = start('a');
  failAll(parts);
  failAll(parts);
  const looking = parts.candidates();
  parts.pass(300);
  assert.equal(looking.next().type, 'try');
  const waiting = parts.candidates();
  let waitedMs = 0;
  for (let step = waiting.next(); step.type === 'wait'; step = waiting.next()) {
    waitedMs += step.ms;
    parts.pass(step.ms);
  }
  assert.ok(waitedMs > 1_900 && waitedMs <= 2_000);
  assert.deepEqual(waiting.next().type, 'stop');
});

test('moves a probe that another request has taken to the end', () => {
  const parts = start('a', 'b');
  for (let failure = 0; failure < 3; failure++) parts.health.failed('a one-2026', BROKEN, 'free');
  parts.pass(5_000);
  const [first, second] = [parts.candidates(), parts.candidates()];
  const step = first.next();
  assert.deepEqual([step.type, step.type === 'try' && step.release], ['try', 'probe']);
  const other = second.next();
  assert.equal(other.type === 'try' && other.candidate.endpoint.provider, 'b');
});

test('skips all endpoints of a model for failures that only another model may avoid', () => {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const one = modelOf('acme/one', priced('a', 1), priced('b', 1));
  const plan = routeOf([one, modelOf('acme/two', priced('c', 1))]);
  const candidates = createCandidateIterator(
    { health: createHealth({ clock }), monotonicMs: () => 0, random: () => 0 },
    plan,
  );
  assert.equal(candidates.next().type, 'try');
  candidates.failed(classifyStatus(400, {}));
  const step = candidates.next();
  assert.equal(step.type === 'try' && step.candidate.endpoint.provider, 'c');
  candidates.failed(classifyStatus(400, {}));
  assert.deepEqual(candidates.next(), { type: 'stop', unavailable: [] });
});

suite('retries at the same endpoint', () => {
  const once: RetryRule = { sameEndpoint: 1, waitMsMax: 3_000 };
  const limited = (retryAfterMs?: number): UpstreamFailure => ({
    ...classifyStatus(429, {}),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });

  // @spec fallback-7
  test('come before the next candidate, as often as the operator says', () => {
    assert.deepEqual(failAll(startWith(once, 'a', 'b')), [
      'free a',
      'wait 200',
      'free a',
      'free b',
      'wait 200',
      'free b',
    ]);
    assert.deepEqual(failAll(startWith({ ...once, sameEndpoint: 2 }, 'a')), [
      'free a',
      'wait 200',
      'free a',
      'wait 200',
      'free a',
    ]);
    assert.deepEqual(failAll(startWith({ ...once, sameEndpoint: 0 }, 'a', 'b')), ['free a', 'free b']);
  });

  // @spec fallback-7
  test('wait as long as the upstream names, up to the bound', () => {
    assert.deepEqual(failAll(startWith(once, 'a', 'b'), limited(2_000)).slice(0, 4), [
      'free a',
      'wait 2200',
      'probe a',
      'free b',
    ]);
    assert.deepEqual(failAll(startWith(once, 'a', 'b'), limited(3_001)), ['free a', 'free b']);
  });

  // @spec fallback-7
  test('do not follow a limit without a time, a timeout, or a fault of the request', () => {
    for (const failure of [limited(), timeoutFailure('headers'), timeoutFailure('headers', 10_000)])
      assert.deepEqual(failAll(startWith(once, 'a', 'b'), failure), ['free a', 'free b']);
    assert.deepEqual(failAll(startWith(once, 'a', 'b'), classifyStatus(400, {})), ['free a']);
  });

  test('do not follow content', () => {
    assert.deepEqual(failAll(startWith(once, 'a', 'b'), BROKEN, 'after content'), ['free a', 'free b']);
  });
});
