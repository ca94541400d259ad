import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRouteReport } from '../../canonical/route-report.ts';
import { NO_USAGE } from '../../canonical/usage.ts';
import { parseJsonObject } from '../../lib/json.ts';
import { sampleEndpoint } from '../../../tests/support/settled-record.ts';
import { decodeMoments, encodeMoments } from './moments.ts';

const ARRIVED_MS = 5_000;
const part = (provider: string, promptTokens: number, left: object) => ({
  endpoint: { ...sampleEndpoint, provider },
  isByok: false,
  attempt: 0,
  cost: undefined,
  usage: { ...NO_USAGE, promptTokens, completionTokens: 1, estimated: false },
  ...left,
});

// @spec destination-19
test('tells turns from streams that broke off, adds up what a turn took, and holds nothing that was found', () => {
  const report = openRouteReport('acme/one', ARRIVED_MS);
  report.pipeline.push(
    { type: 'routing', name: 'provider-preferences' },
    { type: 'guardrail', name: 'content-filter', guardrailId: 'g-1', data: { action: 'flagged', patterns: ['hush'] } },
    { type: 'guardrail', name: 'content-filter', data: { action: 'blocked' }, isOfResponse: true },
  );
  const served = [
    part('alpha', 10, { endedMs: 5_100 }),
    part('beta', 20, { endedMs: 5_200, isOver: true }),
    part('beta', 40, { endedMs: 5_300 }),
    part('gamma', 80, {}),
  ];
  const encoded = encodeMoments({ served, rescues: ['prefill', 'restart', 'failed'], report });
  const stored = JSON.stringify({ moments: encoded });
  assert.ok(!stored.includes('hush'));
  assert.deepEqual(decodeMoments(parseJsonObject(stored)?.['moments'], 1_000, 1_250), [
    { kind: 'filter', atMs: 1_000, name: 'content-filter', action: 'flagged', guardrailId: 'g-1' },
    { kind: 'filter', atMs: 1_250, name: 'content-filter', action: 'blocked' },
    { kind: 'rescue', atMs: 1_100, method: 'prefill', provider: 'beta' },
    { kind: 'turn', atMs: 1_200, n: 1, promptTokens: 30, completionTokens: 2 },
    { kind: 'rescue', atMs: 1_250, method: 'restart', provider: 'gamma' },
    { kind: 'rescue', atMs: 1_250, method: 'failed' },
    { kind: 'turn', atMs: 1_250, n: 2, promptTokens: 120, completionTokens: 2 },
  ]);
});

test('has no turn of a response that took one, and no more than 100 moments', () => {
  const report = openRouteReport('acme/one', ARRIVED_MS);
  const one = encodeMoments({ served: [part('alpha', 10, {})], rescues: [], report });
  assert.deepEqual(one, []);
  const turns = Array.from({ length: 150 }, (_, at) => part('alpha', at, { endedMs: 5_000 + at, isOver: true }));
  assert.equal(encodeMoments({ served: turns, rescues: [], report }).length, 100);
});
