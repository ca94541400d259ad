import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NO_USAGE, type UnitCounts, type Usage } from '../canonical/usage.ts';
import { costOf, priceTableOf, type ListPrice } from './price.ts';

function costFor(
  price: Partial<ListPrice>,
  units: UnitCounts,
  counts: Partial<Usage> = {},
  isWorst = false,
): number | undefined {
  const table = priceTableOf({ prompt: 0, completion: 0, ...price });
  const cost = costOf(table, { ...NO_USAGE, ...counts, units }, isWorst ? { isWorst } : {});
  return cost.isPartial === true ? undefined : cost.totalNanoUsd;
}

const LINES: ListPrice['images'] = [
  { billable: 'output_image', unit: 'image', price: 0.01 },
  { billable: 'output_image', unit: 'image', price: 0.02, variant: 'high/*' },
  { billable: 'output_image', unit: 'image', price: 0.03, variant: '*/2K' },
  { billable: 'output_image', unit: 'image', price: 0.04, variant: 'high/2K' },
];

// @spec money-47
test('charges every unit that is no token at its own price', () => {
  assert.equal(costFor({ searchUnit: 0.002 }, { searchUnits: 3 }), 6_000_000);
  assert.equal(costFor({ character: 15 }, { characters: 42 }), 630_000);
  assert.equal(costFor({ second: 0.0001 }, { audioMs: 90_500 }), 9_050_000);
  assert.equal(costFor({ outputSecond: 0.00025 }, { outputAudioMs: 4_000 }), 1_000_000);
  assert.equal(costFor({ video: { '720p': 0.1 } }, { videoMs: 8_000, clips: 1, videoVariants: ['720p'] }), 800_000_000);
  assert.equal(costFor({ videoRequest: { '*': 0.5 } }, { videoMs: 8_000, clips: 2 }), 1_000_000_000);
});

test('charges tokens of pictures in the prompt at their own price, once', () => {
  const counts = { promptTokens: 100, imagePromptTokens: 60 };
  assert.equal(costFor({ prompt: 5, imageToken: 8 }, {}, counts), 40 * 5_000 + 60 * 8_000);
  assert.equal(costFor({ prompt: 5 }, {}, counts), 100 * 5_000);
});

test('counts the most specific line that fits: both parts, then the size, then the quality, then neither', () => {
  const cost = (quality: string, ...sizes: readonly string[]) =>
    costFor(
      { images: LINES },
      {
        images: 2,
        imageVariants: [
          { quality, sizes },
          { quality, sizes },
        ],
      },
    );
  assert.equal(cost('low', '1024x1024'), 20_000_000);
  assert.equal(cost('high', '1024x1024'), 40_000_000);
  assert.equal(cost('low', '2048x2048', '2K'), 60_000_000);
  assert.equal(cost('high', '2048x2048', '2K'), 80_000_000);
});

// @spec money-47
test('has no price, and never a free one, for what no line is for', () => {
  const images = LINES.slice(1);
  assert.equal(costFor({ images }, { images: 1, imageVariants: [{ quality: 'low', sizes: ['1K'] }] }), undefined);
  assert.equal(costFor({ images }, { images: 1 }), undefined);
  assert.equal(costFor({ video: { '720p': 0.1 } }, { videoMs: 1_000, videoVariants: ['1080p'] }), undefined);
});

test('reserves the dearest line that a picture may come to', () => {
  const worst = (units: UnitCounts) => costFor({ images: LINES }, units, {}, true);
  assert.equal(worst({ images: 1 }), 40_000_000);
  assert.equal(worst({ images: 1, imageVariants: [{ sizes: ['1024x1024', '1K'] }] }), 20_000_000);
  assert.equal(worst({ images: 1, imageVariants: [{ quality: 'low', sizes: [] }] }), 30_000_000);
  assert.equal(costFor({ video: { '720p': 0.1, '4k': 0.4 } }, { videoMs: 1_000 }, {}, true), 400_000_000);
});

test('charges megapixels, references and tokens beside each other', () => {
  const images: ListPrice['images'] = [
    { billable: 'output_image', unit: 'megapixel', price: 0.003 },
    { billable: 'input_image', unit: 'image', price: 0.001 },
    { billable: 'input_text', unit: 'token', price: 0.000005 },
  ];
  const units = { images: 1, outputPixels: 2_000_000, inputImages: 3 };
  assert.equal(costFor({ images }, units, { promptTokens: 10 }), 6_000_000 + 3_000_000 + 50_000);
  assert.equal(costFor({ images }, { images: 1 }), undefined);
});

test('charges each picture by what it is', () => {
  const imageVariants = [
    { quality: 'low', sizes: [] },
    { quality: 'high', sizes: ['2048x2048', '2K'] },
  ];
  assert.equal(costFor({ images: LINES }, { images: 2, imageVariants }), 50_000_000);
});

test('reserves for a size in pixels that a tier may come to be, and for nothing that contradicts it', () => {
  const images: ListPrice['images'] = [
    { billable: 'output_image', unit: 'image', price: 0.01, variant: '*/2K' },
    { billable: 'output_image', unit: 'image', price: 0.03, variant: '*/2048x1152' },
    { billable: 'output_image', unit: 'image', price: 0.05, variant: '*/4K' },
  ];
  const worst = (...sizes: readonly string[]) =>
    costFor({ images }, { images: 1, imageVariants: [{ sizes }] }, {}, true);
  assert.equal(worst('2K'), 30_000_000);
  assert.equal(worst('1920x1088', '2K'), 10_000_000);
});

const LINE = fc.record({
  billable: fc.constantFrom('output_image', 'output_image', 'output_image', 'input_image', 'input_text'),
  unit: fc.constantFrom('image', 'megapixel', 'token'),
  price: fc.integer({ min: 1, max: 40 }).map((cents) => cents / 100),
  variant: fc.constantFrom('*', 'high/*', '*/1K', '*/1024x1024', 'high/1K', '*/2K'),
});
const MADE = fc.record({
  images: fc.constant(2),
  inputImages: fc.nat(2),
  outputPixels: fc.option(fc.constant(2_097_152), { nil: undefined }),
  imageVariants: fc.constantFrom(
    [],
    [{ quality: 'high', sizes: ['1024x1024', '1K'] }, { sizes: ['1024x1024', '1K'] }],
    [
      { quality: 'low', sizes: ['2048x2048', '2K'] },
      { quality: 'low', sizes: [] },
    ],
  ),
});
const COUNTS = fc.record({
  promptTokens: fc.nat(1_000),
  imagePromptTokens: fc.option(fc.nat(100), { nil: undefined }),
  imageCompletionTokens: fc.option(fc.nat(9_000), { nil: undefined }),
});

// @spec money-47
test('costs the same whatever the order of the lines', () => {
  const lines = fc
    .array(LINE, { maxLength: 12 })
    .chain((images) =>
      fc.tuple(
        fc.constant(images),
        fc.shuffledSubarray(images, { minLength: images.length, maxLength: images.length }),
      ),
    );
  fc.assert(
    fc.property(lines, MADE, COUNTS, fc.boolean(), ([images, shuffled], units, counts, isWorst) => {
      const cost = (of: NonNullable<ListPrice['images']>) =>
        costFor({ images: of }, units as UnitCounts, counts as Usage, isWorst);
      assert.equal(cost(images), cost(shuffled));
    }),
    { numRuns: 2_000 },
  );
});

test('costs the same with lines of a unit that was not counted', () => {
  const images: ListPrice['images'] = [{ billable: 'output_image', unit: 'image', price: 0.01 }];
  for (const unit of ['megapixel', 'token'] as const) {
    const more: ListPrice['images'] = [{ billable: 'output_image', unit, price: 0.5, variant: 'high/1K' }];
    const units = { images: 1, imageVariants: [{ quality: 'high', sizes: ['1K'] }] };
    for (const lines of [
      [...images, ...more],
      [...more, ...images],
    ])
      assert.equal(costFor({ images: lines }, units), 10_000_000);
  }
});
