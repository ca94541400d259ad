import assert from 'node:assert/strict';
import test from 'node:test';
import { contextCompressionOptions } from './options.ts';

const TAKEN: readonly Readonly<Record<string, unknown>>[] = [{ engine: 'middle-out' }];

/** Options with the path of the one issue that they have. */
const REFUSED: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
  [{ engine: 'zip' }, 'engine'],
  [{ engine: null }, 'engine'],
];

for (const options of TAKEN) {
  test(`accepts ${JSON.stringify(options).slice(0, 70)} as written`, () => {
    assert.deepEqual(contextCompressionOptions.parse(options), options);
  });
}

for (const [options, path] of REFUSED) {
  // @spec plugin-26
  test(`refuses ${JSON.stringify(options).slice(0, 70)} at ${path}`, () => {
    const { error } = contextCompressionOptions.safeParse(options);
    assert.deepEqual(
      error?.issues.map((issue) => issue.path.join('.')),
      [path],
    );
  });
}
