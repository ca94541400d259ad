import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Usage } from '../canonical/usage.ts';
import { usdFromNano } from '../lib/money.ts';
import { costOf, decimalUsd, priceTableOf, ratesAt, totalCost } from './price.ts';

const usage = (counts: Partial<Usage>): Usage => ({
  promptTokens: 0,
  completionTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  estimated: false,
  ...counts,
});

const price = priceTableOf({ prompt: 1, completion: 2, cacheRead: 0.1, cacheWrite: 1.25, cacheWrite1h: 2 });

test('converts a list price, also of a request, to exact integers, and invents nothing', () => {
  assert.deepEqual(priceTableOf({ prompt: 0.0375, completion: 0.1 + 0.2, reasoning: 3, request: 0.01 }), {
    prompt: 37_500,
    completion: 300_000,
    reasoning: 3_000_000,
    request: 10_000_000_000,
  });
});

// @spec money-2
test('bills cached tokens at their own price and not as prompt tokens too', () => {
  const cost = costOf(
    price,
    usage({ promptTokens: 1_000, cacheReadTokens: 600, cacheWriteTokens: 300, completionTokens: 10 }),
  );
  // 100 * 1 + 600 * 0.1 + 300 * 1.25 + 10 * 2 micro-USD
  assert.equal(cost.totalNanoUsd, 555_000);
  assert.equal(cost.promptNanoUsd, 535_000);
  assert.equal(cost.completionNanoUsd, 20_000);
});

// @spec money-2
test('bills writes for an hour at the hour price, the rest at the short one', () => {
  const cost = costOf(price, usage({ promptTokens: 100, cacheWriteTokens: 100, cacheWrite1hTokens: 40 }));
  assert.equal(cost.totalNanoUsd, 60 * 1_250 + 40 * 2_000);
});

test('bills a list price with six decimals exactly', () => {
  assert.equal(
    costOf(priceTableOf({ prompt: 0.0375, completion: 0 }), usage({ promptTokens: 2_000 })).totalNanoUsd,
    75_000,
  );
});

test('bills a request fee once', () => {
  assert.equal(costOf({ prompt: 0, completion: 0, request: 5e9 }, usage({})).totalNanoUsd, 5_000_000);
});

// @spec money-3
test('does not bill reasoning at its own price as completion too', () => {
  const cost = costOf(
    { prompt: 0, completion: 1_000, reasoning: 3_000 },
    usage({ completionTokens: 10, reasoningTokens: 4 }),
  );
  assert.equal(cost.totalNanoUsd, 6 + 12);
});

// @spec money-6
test('returns a cost that is never negative, never below its parts and never more than a nano-USD above their exact sum', () => {
  const tokens = fc.nat(2_000_000);
  const pico = fc.nat(200_000_000);
  fc.assert(
    fc.property(
      tokens,
      tokens,
      tokens,
      tokens,
      tokens,
      pico,
      pico,
      pico,
      (prompt, cached, written, hour, completion, a, b, c) => {
        const table = { prompt: a, completion: b, cacheRead: c };
        const counts = usage({
          promptTokens: prompt,
          cacheReadTokens: Math.min(cached, prompt),
          cacheWriteTokens: Math.min(written, Math.max(0, prompt - cached)),
          cacheWrite1hTokens: hour,
          completionTokens: completion,
        });
        const cost = costOf(table, counts);
        assert.ok(cost.totalNanoUsd >= 0);
        assert.ok(Number.isInteger(cost.totalNanoUsd));
        assert.ok(Math.abs(cost.totalNanoUsd - cost.promptNanoUsd - cost.completionNanoUsd) <= 1);
        assert.ok(costOf(table, { ...counts, completionTokens: completion + 1 }).totalNanoUsd >= cost.totalNanoUsd);
      },
    ),
  );
});

test('converts nano-USD to the USD that callers read', () => {
  assert.equal(usdFromNano(555_000), 0.000555);
});

test("bills the provider's billed counts at list price, whatever else it read or cached", () => {
  const counted = usage({
    promptTokens: 508,
    completionTokens: 86,
    cacheReadTokens: 144,
    reasoningTokens: 80,
    billed: { promptTokens: 65, completionTokens: 63 },
  });
  // 65 * 1 and 63 * 2 micro-USD
  assert.deepEqual(costOf(price, counted), {
    totalNanoUsd: 191_000,
    promptNanoUsd: 65_000,
    completionNanoUsd: 126_000,
  });
});

const tiered = priceTableOf({
  prompt: 1.25,
  completion: 10,
  cacheRead: 0.125,
  overrides: [{ minPromptTokens: 200_000, rates: { prompt: 2.5, completion: 15, cacheRead: 0.25 } }],
});

// @spec money-4
test('bills a prompt over the threshold at the higher tier from its first token on, the completion too', () => {
  const at = (promptTokens: number) => costOf(tiered, usage({ promptTokens, completionTokens: 1_000 })).totalNanoUsd;
  assert.equal(at(200_000), 200_000 * 1_250 + 1_000 * 10_000);
  assert.equal(at(200_001), 200_001 * 2_500 + 1_000 * 15_000);
});

test('counts cached tokens toward the threshold and bills them at the tier of the whole prompt', () => {
  const cost = costOf(tiered, usage({ promptTokens: 300_000, cacheReadTokens: 290_000 }));
  assert.equal(cost.totalNanoUsd, 10_000 * 2_500 + 290_000 * 250);
});

// @spec money-4
test('keeps what an override does not name, and applies the last one that matches', () => {
  const table = priceTableOf({
    prompt: 1,
    completion: 2,
    cacheRead: 0.5,
    overrides: [
      { minPromptTokens: 10, rates: { prompt: 3 } },
      { minPromptTokens: 20, rates: { prompt: 4, completion: 8 } },
    ],
  });
  assert.deepEqual(ratesAt(table, 15).prompt, 3_000_000);
  assert.deepEqual(ratesAt(table, 15).completion, 2_000_000);
  assert.deepEqual(ratesAt(table, 25).prompt, 4_000_000);
  assert.deepEqual(ratesAt(table, 25).cacheRead, 500_000);
});

// @spec money-4
test('applies a time of day from its first minute to the one before its end, across midnight', () => {
  const table = priceTableOf({
    prompt: 1,
    completion: 1,
    overrides: [{ utcStart: 2_330, utcEnd: 100, rates: { prompt: 2 } }],
  });
  const promptAt = (time: string) => ratesAt(table, 1, Date.parse(`2026-11-20T${time}Z`)).prompt / 1e6;
  assert.deepEqual(
    ['23:29', '23:30', '00:59', '01:00', '12:00'].map((time) => promptAt(`${time}:00`)),
    [1, 2, 2, 1, 1],
  );
  assert.equal(ratesAt(table, 1).prompt, 1e6);
});

test('bills sound, pictures and searches at prices of their own, once', () => {
  const table = priceTableOf({
    prompt: 1,
    completion: 2,
    audio: 10,
    audioOutput: 20,
    imageOutput: 30,
    webSearch: 0.01,
    image: 0.002,
  });
  const counted = usage({
    promptTokens: 100,
    audioPromptTokens: 40,
    completionTokens: 100,
    audioCompletionTokens: 30,
    imageCompletionTokens: 50,
    webSearchRequests: 3,
  });
  const cost = costOf(table, counted, { promptImages: 2 });
  assert.equal(cost.promptNanoUsd, 60 * 1_000 + 40 * 10_000);
  assert.equal(cost.completionNanoUsd, 20 * 2_000 + 30 * 20_000 + 50 * 30_000);
  assert.equal(cost.totalNanoUsd, cost.promptNanoUsd + cost.completionNanoUsd + 30_000_000 + 4_000_000);
});

// @spec money-3
test('bills parts of a completion that a provider counts twice only up to the whole', () => {
  const table = priceTableOf({ prompt: 0, completion: 1, audioOutput: 1, imageOutput: 1 });
  const counted = usage({
    completionTokens: 10,
    reasoningTokens: 8,
    audioCompletionTokens: 8,
    imageCompletionTokens: 8,
  });
  assert.equal(costOf(table, counted).totalNanoUsd, 10_000);
});

// @spec catalog-7, money-5
test('bills exactly the listed decimal', () => {
  assert.equal(decimalUsd(0), '0');
  assert.equal(decimalUsd(2_800), '0.0000000028');
  assert.equal(decimalUsd(3_000_000), '0.000003');
  assert.equal(decimalUsd(1_500_000_000_000), '1.5');
  fc.assert(
    fc.property(fc.nat(2_000_000_000), (pico) => {
      const [whole = '', fraction = ''] = decimalUsd(pico).split('.');
      assert.equal(Number(whole) * 1e12 + Number(fraction.padEnd(12, '0')), pico);
    }),
  );
});

test('adds up the known costs of parts, and marks a missing one', () => {
  const known = { totalNanoUsd: 5, promptNanoUsd: 2, completionNanoUsd: 3 };
  const free = { totalNanoUsd: 0, promptNanoUsd: 0, completionNanoUsd: 0 };
  assert.deepEqual(totalCost([known, known]), { totalNanoUsd: 10, promptNanoUsd: 4, completionNanoUsd: 6 });
  assert.deepEqual(totalCost([known, undefined]), { ...known, isPartial: true });
  assert.deepEqual(totalCost([known, { ...free, isPartial: true }]), { ...known, isPartial: true });
  assert.deepEqual([totalCost([]), totalCost([free])], [free, free]);
  assert.deepEqual([totalCost([undefined]), totalCost([free, undefined])], [undefined, undefined]);
});
