import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { encodePathSegment } from './path-segment.ts';

test('encodes any text as one segment, for every reader of the address', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(fc.constantFrom('.', '/', '\\', '%2e', '?', '#', ':', '\ud800', 'a')).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(text, (name) => {
      fc.pre(name !== '');
      const { origin, pathname, search, hash } = new URL(`https://h.example/model/${encodePathSegment(name)}/end`);
      assert.deepEqual([origin, search, hash], ['https://h.example', '', '']);
      assert.match(pathname, /^\/model\/[^/]+\/end$/);
    }),
    { numRuns: 1_000 },
  );
});

test('leaves an ordinary name unchanged', () => {
  assert.equal(encodePathSegment('eu.anthropic.claude-v2:1'), 'eu.anthropic.claude-v2%3A1');
  assert.equal(encodePathSegment('a/b'), 'a%2Fb');
});
