import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { faultOfPattern } from '../../lib/text/plain-pattern.ts';
import { readPattern } from './pattern-facts.ts';

suite('what is known of a pattern', () => {
  const LITERALS: readonly (readonly [pattern: string, literals: readonly string[] | undefined])[] = [
    ['secret', ['secret']],
    ['\\bproject-\\d+\\b', ['project-']],
    ['(?:alpha|beta\\d)x?', ['alpha', 'beta']],
    ['[A-Z]+secret[A-Z]+x', ['secret']],
    ['a{3}\\d', ['aaa']],
    ['(?:abc)?d', ['d']],
    ['\\d{4}', undefined],
    ['a|\\d', undefined],
    ['(?i:secret)', undefined],
    ['x*', undefined],
    ['\\u0041b', ['Ab']],
  ];
  for (const [pattern, literals] of LITERALS)
    test(`finds ${literals?.join(' or ') ?? 'nothing certain'} in every match of ${pattern}`, () =>
      assert.deepEqual(readPattern(pattern).literals, literals));

  test('rules out no match by a literal', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      'ab',
      '\\d',
      '[ab]',
      '.',
      'a+',
      'b?',
      'a{2}',
      '(?:a|b)',
      '(ab|c)+',
      '^',
      '$',
      '\\b',
    );
    const patterns = fc.array(atom, { minLength: 1, maxLength: 5 }).map((atoms) => atoms.join(''));
    const alternatives = fc.array(patterns, { minLength: 1, maxLength: 3 }).map((each) => each.join('|'));
    const texts = fc.array(fc.constantFrom('a', 'b', 'c', '1', ' '), { maxLength: 10 }).map((each) => each.join(''));
    fc.assert(
      fc.property(alternatives, texts, (pattern, text) => {
        fc.pre(faultOfPattern(pattern) === undefined);
        const { literals, matchCharsMax } = readPattern(pattern);
        const found = new RegExp(pattern).exec(text)?.[0];
        if (found === undefined) return;
        if (literals !== undefined)
          assert.ok(
            literals.some((literal) => text.includes(literal)),
            `${pattern} ${text}`,
          );
        assert.ok(found.length <= matchCharsMax);
      }),
      { numRuns: 3_000 },
    );
  });

  test('adds up the lengths of parts to the length of a match', () => {
    assert.equal(readPattern('ab{2,5}(?:c|dd)').matchCharsMax, 8);
    assert.equal(readPattern('a+').matchCharsMax, Number.POSITIVE_INFINITY);
  });

  const growth = (pattern: string): number => {
    const { stepsFor } = readPattern(pattern);
    return Math.round(Math.log10(stepsFor(100_000) / stepsFor(10_000)));
  };
  const GROWTH: readonly (readonly [pattern: string, power: number])[] = [
    ['secret', 1],
    ['[A-Z]{2}\\d{6}', 1],
    ['(?:alpha|beta)-\\d{1,4}', 1],
    ['\\d+', 2],
    ['\\w+@\\w+', 2],
    ['[a-z]+-\\d+-[a-z]+', 2],
    ['a.*b', 2],
    ['a.*b.*c', 3],
    ['.*.*.*x', 4],
    ['^\\d+$', 1],
    ['\\s*\\s*x', 3],
  ];
  for (const [pattern, power] of GROWTH)
    test(`says that ${pattern} takes time to the power of ${power} at worst`, () =>
      assert.equal(growth(pattern), power));

  test('takes a pattern of very many parts for slow', () =>
    assert.equal(readPattern('[ab]c'.repeat(2_000)).stepsFor(1), Number.POSITIVE_INFINITY));
});
