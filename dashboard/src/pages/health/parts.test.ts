import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partsOf, type HealthDetails } from './parts.ts';

const WELL: HealthDetails = {
  version: '0.1.0',
  started_at: '2026-11-27T08:00:00Z',
  status: 'ready',
  reasons: [],
  database: { engine: 'sqlite', ping_ms: 0.4, bytes: 1_200_000 },
  redis: null,
  catalog: { models: 24, endpoints: 30 },
  processes: [
    {
      name: 'gateway',
      figures: {
        pid: 7,
        uptime_ms: 60_000,
        memory_bytes: 1,
        heap_bytes: 1,
        event_loop_delay_ms: { p50: 1, p99: 3, max: 9 },
        open_streams: 0,
        requests_in_flight: 0,
        records_lost: 0,
        content_lost: 0,
        policy_reports: 0,
        journal: { bytes: 0, unwritten_records: 0, unapplied_bytes: 0, behind_ms: 0 },
      },
    },
  ],
};

function badOf(details: HealthDetails): readonly string[] {
  return partsOf(details).flatMap(({ of, name, advice }) => (advice === undefined ? [] : [`${of}: ${name}`]));
}

test('finds nothing to do where every part is well', () => {
  assert.deepEqual(badOf(WELL), []);
});

test('says of a part that does not respond what to do', () => {
  const database = { ...WELL.database, ping_ms: null };
  const processes = [...WELL.processes, { name: 'worker 1', figures: null }];
  assert.deepEqual(badOf({ ...WELL, database, redis: { ping_ms: null }, processes }), [
    'gateway: SQLite',
    'gateway: Redis',
    'worker 1: Process',
  ]);
});

test('counts every loss as one', () => {
  const figures = WELL.processes[0]?.figures;
  assert.ok(figures !== null && figures !== undefined);
  const lossy = { ...figures, records_lost: 1, content_lost: 2, policy_reports: 3 };
  assert.deepEqual(badOf({ ...WELL, processes: [{ name: 'gateway', figures: lossy }] }), [
    'process: Records lost',
    'process: Content lost',
    'process: Policy reports',
  ]);
});
