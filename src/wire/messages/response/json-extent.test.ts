import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { extend, openExtent } from './json-extent.ts';

test('finds an object complete with its last character, in any pieces', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(object, fc.array(fc.nat({ max: 5 })), (value, sizes) => {
      const text = JSON.stringify(value);
      const extent = openExtent();
      let from = 0;
      for (const size of [...sizes, text.length]) {
        const to = Math.min(from + size, text.length - 1);
        extend(extent, text.slice(from, to));
        assert.ok(!extent.complete, text.slice(0, to));
        from = to;
      }
      extend(extent, text.slice(from));
      assert.ok(extent.complete, text);
    }),
  );
});

test('text that is no object never completes', () => {
  for (const text of ['', '12', '"{}"', 'not json', '"a\\"}', '}{']) {
    const extent = openExtent();
    extend(extent, text);
    assert.ok(!extent.complete, text);
  }
});
