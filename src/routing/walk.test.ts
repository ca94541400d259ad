import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classifyStatus } from '../canonical/classify-failure.ts';
import { endpointName } from './endpoint-name.ts';
import { createHealth, type Health } from './health.ts';
import { modelOf, priced, routeOf } from './test-route.ts';
import { createWalk, type Walk } from './walk.ts';

const BROKEN = classifyStatus(500, {});

function start(...names: readonly string[]): { health: Health; walk: () => Walk; pass: (ms: number) => void } {
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
    walk: () => createWalk({ health, monotonicMs: () => now, random: () => 0.5 }, routeOf([model], looks())),
  };
}

/** What each step was, until it stops. Every attempt fails. */
function failAll({ health, walk, pass }: ReturnType<typeof start>): string[] {
  const steps: string[] = [];
  const one = walk();
  for (let step = one.next(); step.type !== 'stop'; step = one.next()) {
    if (step.type === 'wait') {
      steps.push(`wait ${Math.round(step.ms)}`);
      pass(step.ms);
    } else {
      steps.push(`${step.leave} ${step.candidate.endpoint.provider}`);
      health.failed(endpointName(step.candidate.endpoint), BROKEN, step.leave);
      one.failed(BROKEN);
    }
  }
  return steps;
}

test('everybody is asked once, in order; one that is all there is gets one more try after a pause', () => {
  assert.deepEqual(failAll(start('a', 'b', 'c')), ['free a', 'free b', 'free c']);
  assert.deepEqual(failAll(start('a')), ['free a', 'wait 200', 'free a']);
});

test('who is no longer allowed is not asked', () => {
  const { walk } = start('a', 'b', 'c', 'd');
  const one = walk();
  const asked: string[] = [];
  for (let step = one.next(); step.type === 'try'; step = one.next()) {
    asked.push(step.candidate.endpoint.provider);
    one.failed(BROKEN);
    if (asked.length === 2) one.narrow(({ endpoint }) => endpoint.provider === 'd');
  }
  assert.deepEqual(asked, ['a', 'b', 'd']);
});

test('when all circuits are open one request at a time looks, and the others wait a little and give up', () => {
  const parts = start('a');
  failAll(parts);
  failAll(parts);
  const looking = parts.walk();
  parts.pass(300);
  assert.equal(looking.next().type, 'try');
  const waiting = parts.walk();
  let waitedMs = 0;
  for (let step = waiting.next(); step.type === 'wait'; step = waiting.next()) {
    waitedMs += step.ms;
    parts.pass(step.ms);
  }
  assert.ok(waitedMs > 1_900 && waitedMs <= 2_000);
  assert.deepEqual(waiting.next().type, 'stop');
});

test('a probe that another request has taken meanwhile goes to the end', () => {
  const parts = start('a', 'b');
  for (let failure = 0; failure < 3; failure++) parts.health.failed('a one-2026', BROKEN, 'free');
  parts.pass(5_000);
  const [first, second] = [parts.walk(), parts.walk()];
  const step = first.next();
  assert.deepEqual([step.type, step.type === 'try' && step.leave], ['try', 'probe']);
  const other = second.next();
  assert.equal(other.type === 'try' && other.candidate.endpoint.provider, 'b');
});

test('what may only be tried by another model goes past all endpoints of this one', () => {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const one = modelOf('acme/one', priced('a', 1), priced('b', 1));
  const plan = routeOf([one, modelOf('acme/two', priced('c', 1))]);
  const walk = createWalk({ health: createHealth({ clock }), monotonicMs: () => 0, random: () => 0 }, plan);
  assert.equal(walk.next().type, 'try');
  walk.failed(classifyStatus(400, {}));
  const step = walk.next();
  assert.equal(step.type === 'try' && step.candidate.endpoint.provider, 'c');
  walk.failed(classifyStatus(400, {}));
  assert.deepEqual(walk.next(), { type: 'stop', resting: [] });
});
