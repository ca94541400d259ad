import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedPrice } from './served-price.ts';

const price = { prompt: 2, completion: 4 };
const standardPrice = { prompt: 1, completion: 2 };

// @spec money-8
test('charges the standard price for a request served from standard capacity, whatever it requested', () => {
  const endpoint = { price, serviceTier: 'priority', standardPrice } as const;
  for (const serviceTier of ['default', 'standard'])
    assert.equal(servedPrice(endpoint, { serviceTier }), standardPrice, serviceTier);
  assert.equal(servedPrice(endpoint, { serviceTier: 'priority' }), price);
  assert.equal(servedPrice(endpoint, {}), price);
});

test("bills the endpoint's own price without a known standard price, and at an endpoint of no tier", () => {
  assert.equal(servedPrice({ price, serviceTier: 'flex' }, { serviceTier: 'default' }), price);
  assert.equal(servedPrice({ price }, { serviceTier: 'default' }), price);
});
