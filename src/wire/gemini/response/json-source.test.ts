import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { itemSources, onOneLine, sourceOf } from './json-source.ts';

suite('the source of a value', () => {
  const text = ' { "a" : [ 1.0 , {"b\\u0063":"]}\\"" , "d":{ } } ], "a2":-0,"a":[true, "x",\n[[ ]] ] } ';

  for (const [path, source] of [
    [['a'], '[true, "x",\n[[ ]] ]'],
    [['a', 0], 'true'],
    [['a', 1], '"x"'],
    [['a', 2, 0], '[ ]'],
    [['a2'], '-0'],
    [['a', 3], undefined],
    [['b'], undefined],
    [['a', 'x'], undefined],
    [['a2', 0], undefined],
  ] as const) {
    test(`is ${JSON.stringify(source) ?? 'nowhere'} at ${JSON.stringify(path)}`, () => {
      assert.equal(sourceOf(text, path), source);
    });
  }

  test('is found by a name that is spelled with escapes', () => {
    assert.equal(sourceOf('[{"b\\u0063":"]}\\"" , "d":{ } }]', [0, 'bc']), '"]}\\""');
  });
});

test('finds each value of any JSON', () => {
  const indent = fc.constantFrom(undefined, 1, '\t', '\r\n ');
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), indent, (object, space) => {
      const value: Record<string, unknown> = JSON.parse(JSON.stringify(object));
      const text = JSON.stringify(value, undefined, space);
      for (const [name, member] of Object.entries(value)) {
        const source = sourceOf(text, [name]);
        assert.ok(source !== undefined);
        assert.deepEqual(JSON.parse(source), member);
        if (!Array.isArray(member)) continue;
        assert.deepEqual(
          itemSources(source).map((item): unknown => JSON.parse(item)),
          member,
        );
      }
    }),
    { numRuns: 1_000 },
  );
});

test('joins a value into one line by removing only blanks between its tokens', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(1, '\t'), (value, space) => {
      const plain = JSON.stringify(value);
      const pretty = JSON.stringify(value, undefined, space);
      const line = onOneLine(pretty);
      assert.equal(line, pretty.includes('\n') ? plain : pretty);
    }),
    { numRuns: 1_000 },
  );
});
