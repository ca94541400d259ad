import assert from 'node:assert/strict';
import test from 'node:test';
import { switchyardRouterOptions } from './options.ts';

const TAKEN: readonly Readonly<Record<string, unknown>>[] = [
  { algorithm: 'capability' },
  { algorithm: 'stage' },
  { algorithm: 'auto' },
  { algorithm: 'random' },
  { algorithm: 'composite' },
  { algorithm: 'passthrough' },
];

/** Options with the path of the one issue that they have. */
const REFUSED: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{ algorithm: 'best' }, 'algorithm'],
  [{ algorithm: null }, 'algorithm'],
];

for (const options of TAKEN) {
  test(`accepts ${JSON.stringify(options).slice(0, 70)} as written`, () => {
    assert.deepEqual(switchyardRouterOptions.parse(options), options);
  });
}

for (const [options, path] of REFUSED) {
  test(`refuses ${JSON.stringify(options).slice(0, 70)} at ${path}`, () => {
    const { error } = switchyardRouterOptions.safeParse(options);
    assert.deepEqual(
      error?.issues.map((issue) => issue.path.join('.')),
      [path],
    );
  });
}
