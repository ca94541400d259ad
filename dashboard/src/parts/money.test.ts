import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatBytes, formatCompact, formatNanoUsd, formatPerMillion, formatUsd, formatUsdShort } from './money.ts';

test('shows six decimals in tables, and all nine on hover', () => {
  assert.equal(formatUsd(1240.5), '1,240.500000');
  assert.equal(formatNanoUsd(0.000000001), '0.000000001');
});

test('says that a price is unknown, and that a sum with unknown parts is at least that', () => {
  assert.equal(formatUsd(null), 'unknown');
  assert.equal(formatUsdShort(null), 'unknown');
  assert.equal(formatUsd(3.1, { atLeast: true, places: 2 }), '≥ 3.10');
});

test('shortens large and small figures without a wrong digit', () => {
  assert.deepEqual([0, 7, 999, 1_000, 12_345, 1_500_000].map(formatCompact), [
    '0',
    '7',
    '999',
    '1 k',
    '12.3 k',
    '1.5 M',
  ]);
  assert.deepEqual([0, 0.0031, 12.4, 15_000].map(formatUsdShort), ['0', '0.0031', '12.40', '15 k']);
  assert.deepEqual(['0.000003', '0', undefined, '0.0000000005'].map(formatPerMillion), [
    '3.00',
    'free',
    '–',
    '0.00050',
  ]);
  assert.deepEqual([0, 999, 1_000, 1_500, 2_500_000].map(formatBytes), ['0 B', '999 B', '1.0 KB', '1.5 KB', '2.5 MB']);
});
