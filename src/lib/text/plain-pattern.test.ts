import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { faultOfPattern, PATTERN_CHARS_MAX } from './plain-pattern.ts';

suite('accepts a plain pattern', () => {
  for (const pattern of [
    'acme',
    String.raw`\b\d{3}-\d{2}-\d{4}\b`,
    '(?:red|green|blue)+',
    'sk-[A-Za-z0-9]{20,}',
    String.raw`(?:\d{1,3}\.){3}\d{1,3}`,
    String.raw`\d{5}(?:-\d{4})?`,
    '(a{3})+',
    String.raw`(?<year>\d{4})-(?<month>\d\d)`,
    '^start|end$',
    'a*b*',
    '(?:a+)?',
    '[(?=]+',
  ])
    test(pattern, () => assert.equal(faultOfPattern(pattern), undefined));

  test('accepts the maximal length', () => assert.equal(faultOfPattern('a'.repeat(PATTERN_CHARS_MAX)), undefined));
});

suite('refuses a pattern', () => {
  for (const [pattern, fault] of [
    ['', /empty/],
    ['(', /regular expression/],
    ['a{2,1}', /regular expression/],
    ['[z-a]', /regular expression/],
    ['a(?=b)', /look around/],
    ['a(?!b)', /look around/],
    ['(?<=a)b', /look around/],
    ['(?<!a)b', /look around/],
    [String.raw`(a)\1`, /refer back/],
    [String.raw`(?<x>a)\k<x>`, /refer back/],
    ['(a+)+', /nest/],
    ['(a*)*b', /nest/],
    ['(?:a|b+)*', /nest/],
    ['((a{1,3})b)+', /nest/],
    ['(a+){2}', /nest/],
    ['(?:(?:a?){10}){20}', /nest/],
    ['((x+x+)+y)', /nest/],
  ] as const)
    test(pattern, () => assert.match(faultOfPattern(pattern) ?? '', fault));

  test('refuses what is too long or nested too deeply', () => {
    assert.match(faultOfPattern('a'.repeat(PATTERN_CHARS_MAX + 1)) ?? '', /at most 100000 characters/);
    assert.match(faultOfPattern('('.repeat(50_000) + ')'.repeat(50_000)) ?? '', /deep/);
  });

  test('says so in a short message, however long the pattern is', () => {
    assert.ok((faultOfPattern(`${'a'.repeat(50_000)}(`) ?? '').length < 200);
  });
});
