import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differenceOf, formatNanoText } from './nano.ts';

test('formats nano-dollars with all nine decimals', () => {
  const texts = ['0', '1', '-1', '759500000000', '1240500000000000000'].map(formatNanoText);
  assert.deepEqual(texts, ['0.000000000', '0.000000001', '-0.000000001', '759.500000000', '1,240,500,000.000000000']);
});

test('subtracts sums that are beyond what a number holds', () => {
  assert.equal(differenceOf('90071992547409931', '90071992547409930'), '0.000000001');
});
