import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { DEPTH_MAX, findExcess, MEMBERS_MAX, VALUES_MAX } from './bounds.ts';
import { findStringEnd, findTextExcess } from './scan-text.ts';

/** Longer than what is parsed without a look. */
const PADDING = ' '.repeat(200_000);

const items = (length: number, item: string): string => `[${Array.from({ length }, () => item).join(',')}]`;
const members = (length: number): string =>
  `{${Array.from({ length }, (_, index) => `"${1_000_000_000 + index * 7}":1`).join(',')}}`;

suite('refuses a JSON text before it is parsed', () => {
  const REFUSED: readonly (readonly [
    what: string,
    text: string,
    path: readonly (string | number)[],
    message: RegExp,
  ])[] = [
    ['with too many values', items(VALUES_MAX + 1, '1'), [], /at most 100000 values/],
    ['with too many small objects', items(VALUES_MAX / 2 + 1, '{"a":1}'), [], /at most 100000 values/],
    ['with too many members of one object', members(MEMBERS_MAX + 1), [], /at most 10000 fields/],
    [
      'with such an object inside, which is named',
      `{"a\\"b":[1,{"x":[]},{"c" : ${members(MEMBERS_MAX + 1)}}]}`,
      ['a"b', 2, 'c'],
      /at most 10000 fields/,
    ],
    ['nested too deeply', `{"a":${'['.repeat(DEPTH_MAX + 1)}`, [], /levels deep/],
  ];
  for (const [what, text, path, message] of REFUSED)
    test(what, () => {
      const excess = findTextExcess(text + PADDING);
      assert.deepEqual(excess?.path, path);
      assert.match(excess?.message ?? '', message);
    });

  test('accepts it within bounds, whatever its strings hold', () => {
    for (const text of [
      members(MEMBERS_MAX),
      items(VALUES_MAX - 1, '1'),
      JSON.stringify({ text: '{[,"\\'.repeat(200_000), more: '\\\\' }),
      JSON.stringify(`${'"'.repeat(200_000)},,,`),
      'no JSON at all ,,, ]] "',
    ])
      assert.equal(findTextExcess(text + PADDING), undefined);
  });

  test('accepts it where the parser does', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (value) => findExcess(value) === undefined && findTextExcess(JSON.stringify(value) + PADDING) === undefined,
      ),
    );
  });
});

test('ends a string at the first quote that is not escaped', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('"', '\\', 'a') }), (text) => {
      const written = JSON.stringify(text);
      assert.equal(findStringEnd(`${written},"b"`, 0), written.length - 1);
    }),
  );
  assert.equal(findStringEnd('"never \\"', 0), 9);
});
