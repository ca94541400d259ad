import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { isThinkingSigned, signThinking } from './signature.ts';

test('restores thinking as it was signed, or with its text omitted', () => {
  const signature = signThinking('because ü');
  assert.equal(isThinkingSigned('because ü', signature), true);
  assert.equal(isThinkingSigned('', signature), true);
});

test('refuses the signature of other thinking', () => {
  assert.equal(isThinkingSigned('because u', signThinking('because ü')), false);
});

test('refuses a damaged or made-up signature', () => {
  const signature = signThinking('because');
  fc.assert(
    fc.property(fc.nat(signature.length - 1), fc.constantFrom('A', 'z', '0', '='), (at, letter) => {
      const damaged = signature.slice(0, at) + letter + signature.slice(at + 1);
      fc.pre(damaged !== signature);
      assert.equal(isThinkingSigned('because', damaged), false);
    }),
  );
  for (const made of ['', 'x', 'EqQBCkYIBxgC', signature.slice(0, -4)]) assert.equal(isThinkingSigned('', made), false);
});
