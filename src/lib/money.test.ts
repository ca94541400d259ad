import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactUsd, parseExactUsd } from './money.ts';

test('formats and parses an amount without losing a digit', () => {
  const amounts: readonly (readonly [number, string])[] = [
    [0, '0'],
    [1, '0.000000001'],
    [-1, '-0.000000001'],
    [1_500_000_000, '1.5'],
    [8_999_999_123_456_789, '8999999.123456789'],
  ];
  for (const [nanoUsd, text] of amounts)
    assert.deepEqual([exactUsd(nanoUsd), parseExactUsd(text)], [text, nanoUsd === 0 ? 0 : nanoUsd]);
});

test('does not parse text that is no amount, or a finer one', () => {
  for (const text of ['', '-', '1,5', '1e3', '0.0000000001', '.5', '5.', '+1', ' 1', 'NaN'])
    assert.equal(parseExactUsd(text), undefined, text);
});
