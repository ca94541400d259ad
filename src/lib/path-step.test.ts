import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { pathStep } from './path-step.ts';

test('any text is one step of a path, and nobody who reads the address finds it elsewhere', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom('.', '/', '\\', '%2e', '?', '#', ':', '\ud800', 'a')).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, (name) => {
      fc.pre(name !== '');
      const { origin, pathname, search, hash } = new URL(`https://h.example/model/${pathStep(name)}/end`);
      assert.deepEqual([origin, search, hash], ['https://h.example', '', '']);
      assert.match(pathname, /^\/model\/[^/]+\/end$/);
    }),
    { numRuns: 1_000 },
  );
});

test('a name that needs no care stays as it is', () => {
  assert.equal(pathStep('eu.anthropic.claude-v2:1'), 'eu.anthropic.claude-v2%3A1');
  assert.equal(pathStep('a/b'), 'a%2Fb');
});
