import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findJsonFault } from './json-syntax.ts';

test('says where a text stops being JSON, and what should stand there', () => {
  for (const [text, offset, message] of [
    ['{"a": 1,}', 7, 'expected no comma before "}"'],
    ['[1, 2,\n]', 5, 'expected no comma before "]"'],
    ['{"a": 1 "b": 2}', 8, 'expected "," or "}"'],
    ['{a: 1}', 1, 'expected a key in double quotes'],
    ['{"a" 1}', 5, 'expected ":" after the key'],
    ['{"a": yes}', 6, 'expected a value'],
    ['{"a": 01}', 6, 'expected a value'],
    ['{"a": 1} # more', 9, 'expected nothing after the end of the value'],
    ['{"a": "b', 6, 'expected a text that ends on its line, without control characters'],
    ['{"a": [', 7, 'ends too early'],
    ['', 0, 'ends too early'],
  ] as const)
    assert.deepEqual(findJsonFault(text), { offset, message }, text);
});

test('accepts variables in the place of a value', () => {
  assert.equal(findJsonFault('{"a": ${PORT}, "b": [ ${A} , "${B}" ]}'), undefined);
});

test('agrees with the engine on what is JSON', () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const damaged = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', ']', '"', ':', ' ', '\\', '{', '[', '1', '-', '\n'))
    .map(([text, at, what]) => text.slice(0, at % (text.length + 1)) + what + text.slice((at % (text.length + 1)) + 1));
  fc.assert(
    fc.property(fc.oneof(fc.json(), damaged), (text) => assert.equal(findJsonFault(text) === undefined, isJson(text))),
    { numRuns: 2_000 },
  );
});

test('reads a million levels of nesting', () => {
  const depth = 1_000_000;
  assert.equal(findJsonFault('['.repeat(depth) + ']'.repeat(depth)), undefined);
});
