import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { NO_USAGE } from '../canonical/usage.ts';
import type { PriceTable } from '../catalog/price.ts';
import { cacheDiscountOf } from './cache-discount.ts';
import type { ServedPart } from './record.ts';

/** Nano-USD a token: 3,000 fresh, 300 read, 3,750 written. */
const PRICE: PriceTable = { prompt: 3_000_000, completion: 15_000_000, cacheRead: 300_000, cacheWrite: 3_750_000 };

function part(read: number, written: number, price: PriceTable | undefined = PRICE): ServedPart {
  const usage = { ...NO_USAGE, promptTokens: 1_000, cacheReadTokens: read, cacheWriteTokens: written };
  const cost = price === undefined ? undefined : { totalNanoUsd: 1, promptNanoUsd: 1, completionNanoUsd: 0 };
  const endpoint = { price } as ServedPart['endpoint'];
  return { endpoint, usage, cost, isByok: false, attempt: 1 };
}

suite('what the prompt cache saved', () => {
  // @spec generation-5
  test('is what was read, at the difference of the prices', () => {
    assert.equal(cacheDiscountOf({ served: [part(100, 0)], createdMs: 0 }), 270_000);
  });

  // @spec generation-5
  test('is negative where writing cost more than reading saved', () => {
    assert.equal(cacheDiscountOf({ served: [part(0, 100)], createdMs: 0 }), -75_000);
  });

  test('is the sum over all parts', () => {
    assert.equal(cacheDiscountOf({ served: [part(100, 0), part(0, 100)], createdMs: 0 }), 195_000);
  });

  test('is unknown without a cache, and without a price', () => {
    assert.equal(cacheDiscountOf({ served: [part(0, 0)], createdMs: 0 }), null);
    const unpriced = { ...part(100, 0), endpoint: {} as ServedPart['endpoint'], cost: undefined };
    assert.equal(cacheDiscountOf({ served: [unpriced], createdMs: 0 }), null);
  });
});
