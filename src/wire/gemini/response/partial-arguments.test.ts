import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../lib/json.ts';
import { parseJsonPath } from './json-path.ts';
import { PartialArguments } from './partial-arguments.ts';

suite('a path', () => {
  for (const [path, steps] of [
    ['$', []],
    ['$.a', ['a']],
    ['$.a.b[0][12].c', ['a', 'b', 0, 12, 'c']],
    ["$['a b']", ['a b']],
    ['$["a.b"].c', ['a.b', 'c']],
    ["$['it\\'s']", ["it's"]],
    ["$['a\"b']", ['a"b']],
    ['$["\\u00fc"]', ['ü']],
    ['$.größe', ['größe']],
    ['a', undefined],
    ['$.', undefined],
    ['$.a[*]', undefined],
    ['$..a', undefined],
    ['$[1234567890]', undefined],
    [`$${'.a'.repeat(101)}`, undefined],
  ] as const) {
    test(`${path.slice(0, 20)} is ${JSON.stringify(steps) ?? 'none'}`, () => {
      assert.deepEqual(parseJsonPath(path), steps);
    });
  }
});

function written(...pieces: readonly JsonObject[]): string {
  const all = new PartialArguments();
  for (const piece of pieces) all.add(piece);
  return all.write();
}

suite('arguments in pieces', () => {
  test('come together whatever the order of their places', () => {
    assert.equal(
      written(
        { jsonPath: '$.a.x', stringValue: 'o' },
        { jsonPath: '$.list[0]', numberValue: 1 },
        { jsonPath: '$.a.y', boolValue: false },
        { jsonPath: '$.list[1].z', nullValue: 'NULL_VALUE' },
        { jsonPath: '$.a.x', stringValue: 'n' },
      ),
      '{"a":{"x":"on","y":false},"list":[1,{"z":null}]}',
    );
  });

  test('are none when no piece comes', () => {
    assert.equal(written(), '{}');
  });

  test('keep names that objects have by themselves', () => {
    assert.equal(written({ jsonPath: '$.__proto__', stringValue: 'x' }), '{"__proto__":"x"}');
  });

  for (const piece of [
    {},
    { jsonPath: '$', stringValue: 'x' },
    { jsonPath: '$.a' },
    { jsonPath: 5, stringValue: 'x' },
    { jsonPath: '$.list[7]', stringValue: 'x' },
    { jsonPath: '$[0]', stringValue: 'x' },
  ]) {
    test(`${JSON.stringify(piece)} has no place`, () => {
      assert.equal(new PartialArguments().add(piece), false);
    });
  }

  test('do not fill the memory', () => {
    const all = new PartialArguments();
    const stringValue = 'x'.repeat(1024 * 1024);
    let taken = 0;
    while (taken < 100 && all.add({ jsonPath: '$.a', stringValue })) taken++;
    assert.ok(taken < 20);
  });

  test('give every object back that they were made of', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    const name = fc.stringMatching(/^[a-z]{1,3}$/);
    const value = fc.letrec((tie) => ({
      node: fc.oneof({ maxDepth: 3 }, leaf, tie('object'), tie('list')),
      object: fc.dictionary(name, tie('node'), { minKeys: 1, maxKeys: 3 }),
      list: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
    })).object;
    fc.assert(
      fc.property(value, (object) => {
        assert.deepEqual(JSON.parse(written(...piecesOf(object, '$'))), JSON.parse(JSON.stringify(object)));
      }),
      { numRuns: 500 },
    );
  });
});

function piecesOf(value: unknown, jsonPath: string): readonly JsonObject[] {
  if (typeof value === 'string') {
    const half = Math.floor(value.length / 2);
    return [
      { jsonPath, stringValue: value.slice(0, half), willContinue: true },
      { jsonPath, stringValue: value.slice(half) },
    ];
  }
  if (typeof value === 'number') return [{ jsonPath, numberValue: value }];
  if (typeof value === 'boolean') return [{ jsonPath, boolValue: value }];
  if (value === null || value === undefined) return [{ jsonPath, nullValue: null }];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([name, item]) =>
    piecesOf(item, isList ? `${jsonPath}[${name}]` : `${jsonPath}.${name}`),
  );
}
