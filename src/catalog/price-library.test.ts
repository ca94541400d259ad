import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { costOf, priceTableOf } from './price.ts';
import { createPriceLibrary, loadPriceLibrary, type LibraryProvider } from './price-library.ts';

const ACME: LibraryProvider = {
  models: [
    { id: 'flat', prices: { input_mtok: 1, output_mtok: 2, cache_write_1h_mtok: 4, web_searches_kcount: 10 } },
    {
      id: 'tiers',
      prices: {
        input_mtok: {
          base: 1,
          tiers: [
            { start: 200, price: 3 },
            { start: 100, price: 2 },
          ],
        },
        output_mtok: { base: 5, tiers: [{ start: 200, price: 6 }] },
      },
    },
    {
      id: 'dated',
      prices: [
        { prices: { input_mtok: 1, output_mtok: 2 } },
        { constraint: { type: 'start_date', start_date: '2026-08-17' }, prices: { input_mtok: 3, output_mtok: 4 } },
        { constraint: { type: 'start_date', start_date: '2027-01-01' }, prices: { input_mtok: 9, output_mtok: 9 } },
        {
          constraint: { type: 'time_of_date', start_time: '01:00:00Z', end_time: '04:30:00Z' },
          prices: { input_mtok: 6, output_mtok: 8 },
        },
      ],
    },
    { id: 'half', prices: { input_mtok: 1 } },
    {
      id: 'elsewhere',
      prices: [
        { prices: { input_mtok: 1, output_mtok: 1 } },
        {
          constraint: { type: 'time_of_date', start_time: '01:00:00+08:00', end_time: '02:00:00+08:00' },
          prices: { input_mtok: 2, output_mtok: 2 },
        },
      ],
    },
  ],
};

const library = createPriceLibrary((id) => (id === 'acme' ? ACME : undefined), '2026-11-20');
const priceOf = (model: string) => library({ provider: 'acme', model });

suite('the price library', () => {
  test('finds a row only by its exact id', () => {
    assert.equal(priceOf('fla'), undefined);
    assert.equal(priceOf('flat-2026'), undefined);
    assert.equal(library({ provider: 'other', model: 'flat' }), undefined);
  });

  test('converts prices per thousand to single units', () => {
    assert.deepEqual(priceOf('flat'), { prompt: 1, completion: 2, cacheWrite1h: 4, webSearch: 0.01 });
  });

  test('tiers become thresholds, the lowest first', () => {
    assert.deepEqual(priceOf('tiers')?.overrides, [
      { minPromptTokens: 100, rates: { prompt: 2 } },
      { minPromptTokens: 200, rates: { prompt: 3, completion: 6 } },
    ]);
  });

  test('applies a price from its day on, and a time of day in addition', () => {
    assert.deepEqual(priceOf('dated'), {
      prompt: 3,
      completion: 4,
      overrides: [{ utcStart: 100, utcEnd: 430, rates: { prompt: 6, completion: 8 } }],
    });
  });

  test('leaves half a price, and one in an unsupported time zone, unknown', () => {
    assert.equal(priceOf('half'), undefined);
    assert.equal(priceOf('elsewhere'), undefined);
  });

  test('bills what the library itself computes', async () => {
    const { calcPrice } = await import('@pydantic/genai-prices');
    const real = await loadPriceLibrary(Date.parse('2026-11-20'));
    const listed = real({ provider: 'google', model: 'gemini-2.5-pro' });
    assert.ok(listed);
    for (const [input, cached, output] of [
      [1_000, 200, 500],
      [200_000, 0, 10],
      [200_001, 150_000, 10],
    ] as const) {
      const ours = costOf(priceTableOf(listed), {
        promptTokens: input,
        cacheReadTokens: cached,
        completionTokens: output,
        cacheWriteTokens: 0,
        cacheWrite1hTokens: 0,
        estimated: false,
      });
      const theirs = calcPrice(
        { input_tokens: input, cache_read_tokens: cached, output_tokens: output },
        'gemini-2.5-pro',
        {
          providerId: 'google',
        },
      );
      assert.ok(Math.abs(ours.totalNanoUsd - (theirs?.total_price ?? 0) * 1e9) <= 1);
    }
  });
});
