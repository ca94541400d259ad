import assert from 'node:assert/strict';
import { test } from 'node:test';
import { transportFailure } from '../../canonical/failure/classify-failure.ts';
import { createDeadlines } from '../../routing/deadlines.ts';
import { createHealth } from '../../routing/health.ts';
import { createEndpointStats } from '../../routing/stats.ts';
import { createStickySessions } from '../../routing/sticky.ts';
import { withoutLearning } from './without-learning.ts';

const clock = { nowMs: () => 1_790_000_000_000, monotonicMs: () => 1_000 };
const ENDPOINT = 'alpha one';
const CIRCUIT_OPENS_AFTER = 3;

/** What routing knows after responses and failures of one origin. */
function learnt(origin: Parameters<typeof withoutLearning>[1]) {
  const stats = createEndpointStats({ clock });
  const health = createHealth({ clock, onCounted: (endpoint, isOk) => stats.counted(endpoint, isOk) });
  const real = { health, stats, deadlines: createDeadlines({ clock }), sticky: createStickySessions({ clock }) };
  const deps = withoutLearning(real, origin);
  const timings = { firstTokenMs: 10, totalMs: 100, outputTokens: 50 };
  for (let times = 0; times < 40; times++) {
    deps.health.succeeded(ENDPOINT, deps.health.begin(ENDPOINT) === 'probe' ? 'probe' : 'free');
    deps.stats.finished(ENDPOINT, timings);
    deps.deadlines?.answered(ENDPOINT, 0, 10);
  }
  for (let times = 0; times < CIRCUIT_OPENS_AFTER; times++) {
    deps.health.begin(ENDPOINT);
    deps.health.failed(ENDPOINT, transportFailure('reset'), 'free');
  }
  return {
    counted: stats.listed(ENDPOINT).requestsLast1d,
    isOpen: health.look(ENDPOINT).open,
    hasPace: stats.routing(ENDPOINT)?.latency() !== undefined,
    deadline: real.deadlines.find(ENDPOINT, 0).basis,
  };
}

test('learns from requests of callers, and from the calls of their decisions', () => {
  const all = { counted: 43, isOpen: true, hasPace: true, deadline: 'history' };
  assert.deepEqual(learnt(undefined), all);
  assert.deepEqual(learnt('decisions'), all);
});

test('learns nothing from benchmark runs and classifiers', () => {
  const nothing = { counted: 0, isOpen: false, hasPace: false, deadline: 'few_samples' };
  assert.deepEqual(learnt('evaluation'), nothing);
  assert.deepEqual(learnt('classifier'), nothing);
});

test('learns from judges which endpoints fail, and nothing of their pace', () => {
  assert.deepEqual(learnt('judge'), { counted: 43, isOpen: true, hasPace: false, deadline: 'history' });
});

test('calls endpoints for benchmark runs as their health allows', () => {
  const stats = createEndpointStats({ clock });
  const health = createHealth({ clock });
  for (let times = 0; times < CIRCUIT_OPENS_AFTER; times++) health.failed(ENDPOINT, transportFailure('reset'), 'free');
  const { health: seen } = withoutLearning({ health, stats, sticky: createStickySessions({ clock }) }, 'evaluation');
  assert.equal(seen.look(ENDPOINT).open, true);
  assert.equal(seen.begin(ENDPOINT), 'probe');
  assert.equal(health.begin(ENDPOINT), 'busy');
  seen.succeeded(ENDPOINT, 'probe');
  assert.equal(health.look(ENDPOINT).open, true);
  assert.equal(health.begin(ENDPOINT), 'probe');
});
