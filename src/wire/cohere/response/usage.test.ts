import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { costOf, priceTableOf } from '../../../catalog/price.ts';
import { decodeUsage } from './usage.ts';

const PRICE = priceTableOf({ prompt: 2.5, completion: 10, cacheRead: 0.25 });

test('tokens are what the model read and wrote; billed units are what is paid for', () => {
  const usage = decodeUsage({
    billed_units: { input_tokens: 65, output_tokens: 63 },
    tokens: { input_tokens: 508, output_tokens: 86, reasoning_tokens: 28 },
    cached_tokens: 144,
  });
  assert.deepEqual(usage, {
    promptTokens: 508,
    completionTokens: 86,
    cacheReadTokens: 144,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: 28,
    billed: { promptTokens: 65, completionTokens: 63 },
    estimated: false,
  });
  assert.ok(usage !== undefined);
  // 65 at 2.5 and 63 at 10 USD per million tokens.
  assert.equal(costOf(PRICE, usage).totalNanoUsd, 162_500 + 630_000);
});

test('charges the counts of a host without billed units, cached tokens at their own price', () => {
  const usage = decodeUsage({ tokens: { input_tokens: 100, output_tokens: 10 }, cached_tokens: 60 });
  assert.equal(usage?.billed, undefined);
  assert.ok(usage !== undefined);
  assert.equal(costOf(PRICE, usage).totalNanoUsd, 40 * 2_500 + 60 * 250 + 10 * 10_000);
});

test('takes billed units for the tokens where only they are reported, and caches no more than there are', () => {
  const usage = decodeUsage({ billed_units: { input_tokens: 9, output_tokens: 4 }, cached_tokens: 700 });
  assert.deepEqual([usage?.promptTokens, usage?.completionTokens, usage?.cacheReadTokens], [9, 4, 9]);
});

test('counts that come as fractions are whole', () => {
  assert.equal(decodeUsage({ tokens: { input_tokens: 18.0, output_tokens: 6.9 } })?.completionTokens, 6);
});

for (const value of [
  undefined,
  null,
  'x',
  {},
  { tokens: {} },
  { tokens: { input_tokens: -4 } },
  { cached_tokens: 3 },
]) {
  test(`${JSON.stringify(value)} is no usage`, () => {
    assert.equal(decodeUsage(value), undefined);
  });
}

test('decodes any usage to counts that are whole and not negative, so that the cost is defined', () => {
  const count = fc.oneof(fc.integer(), fc.double(), fc.jsonValue());
  const counts = fc.record({ input_tokens: count, output_tokens: count, reasoning_tokens: count });
  const usage = fc.record({ billed_units: counts, tokens: counts, cached_tokens: count }, { requiredKeys: [] });
  fc.assert(
    fc.property(fc.oneof(usage, fc.jsonValue()), (value) => {
      const read = decodeUsage(JSON.parse(JSON.stringify(value)));
      if (read === undefined) return;
      const numbers = [...Object.values(read), ...Object.values(read.billed ?? {})].filter(
        (entry) => typeof entry === 'number',
      );
      for (const number of numbers) assert.ok(Number.isSafeInteger(number) && number >= 0, `${number}`);
      assert.ok(read.cacheReadTokens <= read.promptTokens);
      assert.ok(costOf(PRICE, read).totalNanoUsd >= 0);
    }),
    { numRuns: 1_000 },
  );
});
