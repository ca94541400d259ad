import assert from 'node:assert/strict';
import test from 'node:test';
import { openRouteReport } from '../../canonical/route-report.ts';
import type { RouteReport } from '../../canonical/route-report.ts';
import { encodeServiceMetadata } from './service-metadata.ts';

function servedReport(): RouteReport {
  return {
    ...openRouteReport('acme/one', 1_000.25),
    strategy: 'fallback',
    available: [
      { provider: 'Alpha', model: 'acme/one' },
      { provider: 'Beta', model: 'acme/two' },
    ],
    total: 3,
    selected: 1,
    attempt: 2,
    attempts: [
      { provider: 'Alpha', model: 'acme/one', status: 502 },
      { provider: 'Beta', model: 'acme/two', status: 200 },
    ],
    endedMs: 2_500.9,
    routed: true,
  };
}

// @spec metadata-3, metadata-6, metadata-8
test('encodes every member of the report of a served request', () => {
  assert.deepEqual(encodeServiceMetadata(servedReport(), 'local'), {
    requested: 'acme/one',
    strategy: 'fallback',
    region: 'local',
    summary: 'available=2, selected=Beta',
    attempt: 2,
    is_byok: false,
    endpoints: {
      total: 3,
      available: [
        { provider: 'Alpha', model: 'acme/one', selected: false },
        { provider: 'Beta', model: 'acme/two', selected: true },
      ],
    },
    attempts: [
      { provider: 'Alpha', model: 'acme/one', status: 502 },
      { provider: 'Beta', model: 'acme/two', status: 200 },
    ],
    generation_time: 1_501,
  });
});

// @spec metadata-6
test('selects no endpoint for a failure, and omits empty members', () => {
  const metadata = encodeServiceMetadata({ ...servedReport(), selected: undefined, attempts: [], attempt: 0 }, 'iad');
  assert.equal(metadata['summary'], 'available=2');
  assert.equal(metadata['attempt'], 0);
  assert.equal(metadata['region'], 'iad');
  assert.deepEqual(metadata['endpoints'], {
    total: 3,
    available: [
      { provider: 'Alpha', model: 'acme/one', selected: false },
      { provider: 'Beta', model: 'acme/two', selected: false },
    ],
  });
  assert.ok(!('attempts' in metadata) && !('pipeline' in metadata));
});

// @spec metadata-10
test('encodes stages with the member names of the format', () => {
  const stage = {
    type: 'guardrail',
    name: 'content-filter',
    summary: 'Blocked: 1 pattern matched',
    guardrailId: 'gr_1',
    guardrailScope: 'api-key',
    data: { action: 'blocked', patterns: ['secret'] },
  };
  const report = { ...servedReport(), pipeline: [stage, { type: 'plugin', name: 'web-search' }] };
  assert.deepEqual(encodeServiceMetadata(report, 'local')['pipeline'], [
    {
      type: 'guardrail',
      name: 'content-filter',
      summary: 'Blocked: 1 pattern matched',
      guardrail_id: 'gr_1',
      guardrail_scope: 'api-key',
      data: { action: 'blocked', patterns: ['secret'] },
    },
    { type: 'plugin', name: 'web-search' },
  ]);
});

// @spec metadata-9
test('encodes the generation time in whole milliseconds from arrival to end, and omits it before the end', () => {
  assert.equal(encodeServiceMetadata({ ...servedReport(), endedMs: 1_000.3 }, 'local')['generation_time'], 0);
  assert.ok(!('generation_time' in encodeServiceMetadata({ ...servedReport(), endedMs: undefined }, 'local')));
});
