import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEndpointStats, type EndpointStats } from './stats.ts';

function start(): { stats: EndpointStats; pass: (ms: number) => void } {
  let now = 5_000_000;
  return {
    stats: createEndpointStats({ clock: { nowMs: () => now, monotonicMs: () => now } }),
    pass: (ms) => (now += ms),
  };
}

function assertNear(value: number | undefined, expected: number): void {
  assert.ok(value !== undefined && Math.abs(value / expected - 1) < 0.06, `${value} is about ${expected}`);
}

test('percentiles are right to a few percent, and of speeds the slow ones are the tail', () => {
  const { stats } = start();
  for (let at = 1; at <= 100; at++)
    stats.finished('p m', { firstTokenMs: at * 10, totalMs: 1_000, outputTokens: at + 10 });
  const metrics = stats.routing('p m');
  assertNear(metrics?.latency()?.p50, 0.5);
  assertNear(metrics?.latency()?.p99, 0.99);
  assertNear(metrics?.throughput()?.p50, 60);
  assertNear(metrics?.throughput()?.p90, 21);
  assertNear(stats.listed('p m').throughputLast30m?.p90, 100);
});

test('reports the median length of responses of the last 30 minutes', () => {
  const { stats, pass } = start();
  for (const outputTokens of [10, 20, 300, 400])
    stats.finished('p m', { firstTokenMs: 1, totalMs: 1_000, outputTokens });
  assert.equal(stats.typicalTokens('p m'), undefined, 'too few');
  stats.finished('p m', { firstTokenMs: 1, totalMs: 1_000, outputTokens: 5_000 });
  pass(2_000);
  assertNear(stats.typicalTokens('p m'), 300);
  assert.equal(stats.typicalTokens('p other'), undefined);
  pass(36 * 60_000);
  assert.equal(stats.typicalTokens('p m'), undefined);
});

// @spec catalog-13
test('forgets samples for routing after 5 minutes and for listings after 30, and reports nothing from too few', () => {
  const { stats, pass } = start();
  for (let at = 0; at < 4; at++) stats.finished('p m', { firstTokenMs: 100, totalMs: 1_000, outputTokens: 50 });
  assert.equal(stats.routing('p m')?.latency(), undefined);
  stats.finished('p m', { firstTokenMs: 100, totalMs: 1_000, outputTokens: 50 });
  pass(2_000);
  assertNear(stats.routing('p m')?.latency()?.p50, 0.1);
  pass(5 * 60_000 + 30_000);
  assert.equal(stats.routing('p m')?.latency(), undefined);
  assertNear(stats.listed('p m').latencyLast30m?.p50, 100);
  pass(30 * 60_000);
  assert.equal(stats.listed('p m').latencyLast30m, null);
});

// @spec catalog-12
test('reports uptime over 5 minutes, 30 minutes and a day, in percent', () => {
  const { stats, pass } = start();
  for (let at = 0; at < 10; at++) stats.counted('p m', at > 0);
  assert.equal(stats.listed('p m').uptimeLast5m, 90);
  pass(6 * 60_000);
  assert.deepEqual([stats.listed('p m').uptimeLast5m, stats.listed('p m').uptimeLast30m], [null, 90]);
  pass(40 * 60_000);
  assert.deepEqual([stats.listed('p m').uptimeLast30m, stats.listed('p m').uptimeLast1d], [null, 90]);
  assert.equal(stats.listed('unknown').uptimeLast1d, null);
});

test('counts tool calls for two hours', () => {
  const { stats, pass } = start();
  const answer = { firstTokenMs: 1, totalMs: 2, outputTokens: 1 };
  stats.finished('p m', { ...answer, toolCalls: 'valid' });
  stats.finished('p m', { ...answer, toolCalls: 'broken' });
  stats.finished('p m', answer);
  const { toolRequests, toolFailures } = stats.routing('p m')?.quality() ?? {};
  assert.deepEqual([toolRequests, toolFailures], [2, 1]);
  pass(2 * 3_600_000 + 600_000);
  assert.equal(stats.routing('p m')?.quality().toolRequests, 0);
});
