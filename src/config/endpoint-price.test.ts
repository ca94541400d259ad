import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { listPriceOf, RATE_WORDS } from '../catalog/list-price.ts';
import { formatPrice, priceShape, readPrice } from './endpoint-price.ts';

const NO_RATES: ReadonlySet<string> = new Set(['overrides', 'images', 'video', 'video_request']);
const shape = z.strictObject(priceShape);

const written: z.output<typeof shape> = {
  prompt: 1,
  completion: 2,
  cache_read: 0.1,
  cache_write: 1.25,
  cache_write_1h: 2,
  reasoning: 3,
  audio: 10,
  audio_output: 20,
  image_output: 30,
  image: 0.01,
  web_search: 0.02,
  request: 0.03,
  image_token: 8,
  search_unit: 0.002,
  character: 15,
  second: 0.0001,
  output_second: 0.00025,
  overrides: [
    { min_prompt_tokens: 200_000, prompt: 2, completion: 4 },
    { utc_start: 2_330, utc_end: 100, cache_read: 0.05 },
  ],
  images: [
    { billable: 'output_image', unit: 'image', cost_usd: 0.04 },
    { billable: 'output_image', unit: 'image', cost_usd: 0.08, variant: 'high/*' },
  ],
  video: { '720p': 0.1, '*': 0.4 },
  video_request: { '*': 0.5 },
};

test("reads a price of the configuration like one of the catalog's files", () => {
  const rates = Object.keys(shape.shape).filter((word) => !NO_RATES.has(word));
  assert.deepEqual(
    Object.keys(written).filter((word) => !NO_RATES.has(word)),
    rates,
  );
  assert.deepEqual(
    rates,
    RATE_WORDS.map(([word]) => word),
  );
  assert.deepEqual(readPrice(shape.parse(written)), listPriceOf({ ...written, source: 'a source' }));
});

test('reads every member of a price, and writes it as it was', () => {
  const price = readPrice(shape.parse(written));
  assert.deepEqual(price.overrides, [
    { minPromptTokens: 200_000, rates: { prompt: 2, completion: 4 } },
    { utcStart: 2_330, utcEnd: 100, rates: { cacheRead: 0.05 } },
  ]);
  assert.equal(price.webSearch, 0.02);
  assert.deepEqual(JSON.parse(JSON.stringify(formatPrice(price))), written);
});

test('refuses half a window of the day, and a minute that no hour has', () => {
  const fits = (override: object) => shape.safeParse({ prompt: 1, completion: 1, overrides: [override] }).success;
  assert.equal(fits({ utc_start: 100 }), false);
  assert.equal(fits({ utc_start: 160, utc_end: 200 }), false);
  assert.equal(fits({ utc_start: 159, utc_end: 200 }), true);
});
