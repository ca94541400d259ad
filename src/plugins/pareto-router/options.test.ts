import assert from 'node:assert/strict';
import test from 'node:test';
import { paretoRouterOptions } from './options.ts';

const TAKEN: readonly Readonly<Record<string, unknown>>[] = [
  { max_price: 0 },
  { max_price: 2.5, min_coding_score: 0.66, price_source: 'weighted_avg' },
  { min_coding_score: 0, price_source: 'prompt' },
  { min_coding_score: 1 },
];

/** Options with the path of the one issue that they have. */
const REFUSED: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{ max_price: -0.01 }, 'max_price'],
  [{ max_price: '1' }, 'max_price'],
  [{ min_coding_score: -0.01 }, 'min_coding_score'],
  [{ min_coding_score: 1.01 }, 'min_coding_score'],
  [{ min_coding_score: null }, 'min_coding_score'],
  [{ price_source: 'list' }, 'price_source'],
];

for (const options of TAKEN) {
  test(`accepts ${JSON.stringify(options).slice(0, 70)} as written`, () => {
    assert.deepEqual(paretoRouterOptions.parse(options), options);
  });
}

for (const [options, path] of REFUSED) {
  test(`refuses ${JSON.stringify(options).slice(0, 70)} at ${path}`, () => {
    const { error } = paretoRouterOptions.safeParse(options);
    assert.deepEqual(
      error?.issues.map((issue) => issue.path.join('.')),
      [path],
    );
  });
}
