import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRetryAfterMs } from './retry-after.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const cases: [headers: Record<string, string>, ms: number | undefined][] = [
  [{ 'retry-after': '2' }, 2_000],
  [{ 'retry-after': '1.5' }, 1_500],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7_000],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  [{ 'retry-after': '999999999' }, 3_600_000],
  [{ 'retry-after': '-3' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after-ms': 'x', 'retry-after': '1' }, 1_000],
  [{}, undefined],
];

for (const [headers, ms] of cases)
  test(`parses ${JSON.stringify(headers)} as ${ms} ms`, () => assert.equal(parseRetryAfterMs(headers, now), ms));
