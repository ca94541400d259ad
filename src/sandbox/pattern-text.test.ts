import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { textOfPattern } from './pattern-text.ts';

for (const pattern of [
  '^[a-z]+$',
  '^[A-Z]{2}\\d{4}$',
  '^\\d{3}-\\d{4}$',
  '^(foo|bar)$',
  '^(?:a|b)+c$',
  '^(?<year>\\d{4})-(?<month>\\d{2})$',
  '^[^a]$',
  '^[^a-zA-Z0-9]$',
  '^[\\w.-]+@[\\w-]+\\.[a-z]{2,}$',
  '^\\+?[1-9]\\d{1,14}$',
  '^#[0-9a-fA-F]{6}$',
  '^\\S+\\s\\S+$',
  '^.{5,10}$',
  '^\\u0041\\x42$',
  '^\\p{Lu}\\p{Ll}*$',
  '^(?=.*a)a+$',
  '^v\\d+(\\.\\d+){2}(-[a-z]+)?$',
  '\\bword\\b',
  '^$',
  '^a??b*?$',
  '^\\\\path\\/x$',
  '^[\\d\\-_]{3}$',
]) {
  test(`makes a text that matches ${pattern}`, () => {
    const text = textOfPattern(pattern, 0);
    assert.match(text, new RegExp(pattern, 'u'.repeat(Number(pattern.includes('\\p')))));
  });
}

for (const [pattern, charsMin] of [
  ['^[a-z]+$', 20],
  ['^x[0-9]*$', 7],
  ['^(?:ab)+$', 9],
  ['^\\w{2,40}$', 30],
] as const) {
  test(`stretches a text of ${pattern} to ${charsMin} characters`, () => {
    const text = textOfPattern(pattern, charsMin);
    assert.match(text, new RegExp(pattern));
    assert.ok(text.length >= charsMin, text);
  });
}

test('makes a bounded text for an invalid expression', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 80 }), fc.nat(5_000), (pattern, charsMin) => {
      assert.ok(textOfPattern(pattern, charsMin).length <= 1_000);
    }),
  );
});

for (const pattern of ['('.repeat(5_000), '(a{256}){256}'.repeat(20), '[', '\\', 'a{99999999}', '(?', '((a+)+)+$'])
  test(`parses ${pattern.slice(0, 20)} in no time`, () => {
    const startedMs = performance.now();
    assert.ok(textOfPattern(pattern, 1_000).length <= 1_000);
    assert.ok(performance.now() - startedMs < 5_000);
  });
