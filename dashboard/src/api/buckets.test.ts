import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toBuckets } from './buckets.ts';

const RANGE = { start: '2026-11-27T10:00:00Z', end: '2026-11-27T13:00:00Z' };
const row = (hour: number, model: string, count: number): Record<string, string | number> => ({
  created_at__hour: `2026-11-27T${hour}:00:00.000Z`,
  model,
  count,
});

test('has a zero where a bucket has no row, and adds rows of one bucket', () => {
  const { times, series } = toBuckets([row(10, 'a', 1), row(12, 'a', 2), row(12, 'b', 5)], {
    granularity: 'hour',
    range: RANGE,
    metric: 'count',
  });
  assert.equal(times.length, 3);
  assert.deepEqual(series, [{ name: 'count', values: [1, 0, 7] }]);
});

test('keeps the largest groups, and makes one of the rest', () => {
  const rows = ['a', 'b', 'c', 'd'].map((model, at) => row(11, model, 10 - at));
  const { series } = toBuckets(rows, {
    granularity: 'hour',
    range: RANGE,
    metric: 'count',
    groupBy: 'model',
    groupsMax: 3,
  });
  assert.deepEqual(series, [
    { name: 'a', values: [0, 10, 0] },
    { name: 'b', values: [0, 9, 0] },
    { name: 'other 2', values: [0, 15, 0] },
  ]);
});
