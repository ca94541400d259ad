import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  ExactNumber,
  hasFragileNumbers,
  hasLongNumbers,
  isJsonObject,
  parseJson,
  parseJsonObject,
  parseKeepingNumbers,
} from './json.ts';

test('returns undefined for text that is not JSON, or not an object, and never throws', () => {
  const deep = '['.repeat(10_000) + ']'.repeat(10_000);
  assert.equal(parseJson(deep), undefined);
  assert.equal(parseJson('{'), undefined);
  assert.equal(parseJsonObject('[1]'), undefined);
  assert.equal(parseJsonObject('null'), undefined);
  assert.deepEqual(parseJsonObject('{"a":1}'), { a: 1 });
});

for (const number of ['1.0', '12345678901234567890', '1e3', '-0', '0.10', '1E+2', '100.00'])
  test(`serializes ${number} unchanged`, () => {
    const text = `{"a":[${number}]}`;
    assert.ok(hasFragileNumbers(text));
    assert.equal(JSON.stringify(parseKeepingNumbers(text)), text);
  });

test('notices every number that plain parsing changes', () => {
  const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,20})?([eE][-+]?\d{1,2})?$/);
  fc.assert(
    fc.property(digits, (text) => {
      if (JSON.stringify(JSON.parse(text)) !== text) assert.ok(hasFragileNumbers(text), text);
      assert.equal(JSON.stringify(parseKeepingNumbers(`[${text}]`)), `[${text}]`);
    }),
  );
});

test('notices a number of 16 digits or more at any place, and no shorter one', () => {
  const padding = fc.stringMatching(/^[a-z ]{0,40}$/);
  const digits = fc.stringMatching(/^[1-9]\d{0,30}(\.\d{1,30})?$/);
  fc.assert(
    fc.property(padding, digits, padding, (before, number, after) => {
      const text = `{"a":"${before}","b":${number},"c":"${after}"}`;
      assert.equal(hasLongNumbers(text), number.replace('.', '').length > 15);
    }),
    { numRuns: 1_000 },
  );
});

test('takes no row of short numbers for a long one, and scans a text of points in linear time', () => {
  assert.equal(hasLongNumbers(JSON.stringify(Array.from({ length: 99 }, (_, at) => at * 12_345_678_901))), false);
  assert.equal(hasLongNumbers('.'.repeat(1_000_000)), false);
});

test('treats an exact number as neither an object nor a number', () => {
  const exact = parseKeepingNumbers('12345678901234567890');
  assert.ok(exact instanceof ExactNumber);
  assert.equal(isJsonObject(exact), false);
  assert.equal(JSON.stringify({ exact, plain: 1 }), '{"exact":12345678901234567890,"plain":1}');
});
