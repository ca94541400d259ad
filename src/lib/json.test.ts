import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { hasFragileNumbers, parseJson, parseJsonObject, parseKeepingNumbers } from './json.ts';

test('text that is no JSON, or no object, gives undefined and never throws', () => {
  const deep = '['.repeat(10_000) + ']'.repeat(10_000);
  assert.equal(parseJson(deep), undefined);
  assert.equal(parseJson('{'), undefined);
  assert.equal(parseJsonObject('[1]'), undefined);
  assert.equal(parseJsonObject('null'), undefined);
  assert.deepEqual(parseJsonObject('{"a":1}'), { a: 1 });
});

for (const number of ['1.0', '12345678901234567890', '1e3', '-0', '0.10', '1E+2', '100.00'])
  test(`${number} is written again as it stood`, () => {
    const text = `{"a":[${number}]}`;
    assert.ok(hasFragileNumbers(text));
    assert.equal(JSON.stringify(parseKeepingNumbers(text)), text);
  });

test('a number that plain parsing changes is always noticed', () => {
  const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][-+]?\d{1,2})?$/);
  fc.assert(
    fc.property(digits, (text) => {
      if (JSON.stringify(JSON.parse(text)) !== text) assert.ok(hasFragileNumbers(text), text);
      assert.equal(JSON.stringify(parseKeepingNumbers(`[${text}]`)), `[${text}]`);
    }),
  );
});
