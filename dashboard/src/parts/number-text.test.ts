import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNumber, problemOfNumber } from './number-text.ts';

test('reads a number with a point, and nothing that only looks like one', () => {
  assert.deepEqual(
    ['5', ' 5.00 ', '.5', '-1', '5.'].map((text) => parseNumber(text)),
    [5, 5, 0.5, -1, 5],
  );
  const others = ['', '5,00', '1e3', '0x10', 'Infinity', '5 USD', '1.2.3', '-'];
  assert.deepEqual(
    others.map((text) => parseNumber(text)),
    others.map(() => undefined),
  );
});

test('reports each text that is no number, and points at the comma', () => {
  for (const text of ['5,00', '1.000,5', '5 USD', '1e3', '-', 'ten']) assert.notEqual(problemOfNumber(text), undefined);
  assert.match(problemOfNumber('5,00') ?? '', /point/);
});

test('takes an empty field as none, unless a number is required', () => {
  assert.equal(problemOfNumber(''), undefined);
  assert.match(problemOfNumber(' ', { isRequired: true }) ?? '', /Write a number/);
});

test('holds a number to its bounds and to whole numbers', () => {
  assert.match(problemOfNumber('0', { min: 1 }) ?? '', /at least 1/);
  assert.match(problemOfNumber('101', { max: 100 }) ?? '', /at most 100/);
  assert.match(problemOfNumber('1.5', { isWhole: true }) ?? '', /whole/);
  assert.equal(parseNumber('101', { max: 100 }), undefined);
  assert.equal(problemOfNumber('100', { isWhole: true, min: 1, max: 100 }), undefined);
});
