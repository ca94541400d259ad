import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nanoFromUsd, usdFromNano } from './money.ts';

test('an amount survives the way to nano-USD and back', () => {
  for (const usd of [0, 0.000555, 0.1, 12.34, 999_999.999999999]) assert.equal(usdFromNano(nanoFromUsd(usd)), usd);
});

test('an amount becomes the nearest whole number of nano-USD', () => {
  assert.equal(nanoFromUsd(0.0000000014), 1);
  assert.equal(nanoFromUsd(0.1 + 0.2), 300_000_000);
});
