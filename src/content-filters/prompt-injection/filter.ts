import { createLruCache } from '../../lib/cache/lru-cache.ts';
import type { BuiltinRule, ContentFilter, Match, Matcher, TextView } from '../contract.ts';
import { findEncoded } from './encoded-words.ts';
import { INJECTION_PATTERNS, type InjectionPattern } from './patterns.ts';
import { findScrambled } from './scrambled-words.ts';
import { findSpaced } from './spaced-letters.ts';

/**
 * Finds texts that talk a model out of its instructions, by their wording. It knows wordings, not meanings: a new one
 * passes, and a text about such texts is found. @spec filter-16
 */
export const promptInjection: ContentFilter = {
  id: 'prompt-injection',
  lateRequests: 'refused',
  readsRawJson: false,
  matcherOf: (rule) =>
    rule.kind === 'builtin' && rule.slug === 'regex-prompt-injection' ? matcherOf(rule) : undefined,
};

/** Most patterns are ruled out by their words; each of the others looks at a character a few times. */
const STEPS_PER_CHAR = 150;
/** The patterns are bounded; what is encoded may be of any length. */
const MATCH_CHARS_MAX = 600;
const MATCHERS_MAX = 20;
const matchers = createLruCache<string, Matcher>(MATCHERS_MAX);

function matcherOf({ allowedPhrases }: BuiltinRule): Matcher {
  const key = JSON.stringify(allowedPhrases);
  const matcher = matchers.get(key) ?? makeMatcher(allowedPhrases);
  matchers.set(key, matcher);
  return matcher;
}

/** A form of a pattern, and what it is called. */
interface Compiled extends InjectionPattern {
  readonly expression: RegExp;
  /** For texts without spaces. */
  readonly joined: RegExp;
}

const COMPILED: readonly Compiled[] = INJECTION_PATTERNS.map((pattern) => ({
  ...pattern,
  expression: new RegExp(pattern.source, 'gi'),
  joined: new RegExp(joinWords(pattern.source), 'i'),
}));

function joinWords(source: string): string {
  return (
    source
      .replaceAll(String.raw`\s+`, String.raw`\s*`)
      .replaceAll(String.raw`\b`, '')
      // Any word may end anywhere now: a bound keeps the ways to read a row of letters few.
      .replaceAll(/(\\w|\[\\w'’\])\+/g, '$1{1,12}')
  );
}

function makeMatcher(allowedPhrases: readonly string[]): Matcher {
  return {
    // Ways to hide a word leave little to look for.
    mayMatch: (text) => text.length >= CHARS_MIN,
    stepsFor: (chars) => chars * STEPS_PER_CHAR,
    matchCharsMax: MATCH_CHARS_MAX,
    find: (view) => findInjections(view, allowedPhrases),
  };
}

/** The shortest that a pattern matches is longer. */
const CHARS_MIN = 6;

function findInjections({ folded }: TextView, allowedPhrases: readonly string[]): readonly Match[] {
  const { text } = folded;
  const found = [
    ...findPatterns(maskPhrases(text, allowedPhrases)),
    ...findScrambled(text),
    ...findEncoded(text),
    ...findSpaced(text, { namesOf: namesOfPatterns, findIn: findPatterns }),
  ];
  return found.map((match) => ({ ...match, ...folded.back(match) })).toSorted((one, other) => one.start - other.start);
}

function findPatterns(text: string): readonly Match[] {
  const lower = text.toLowerCase();
  return COMPILED.flatMap(({ name, words, expression }) =>
    words.some((word) => lower.includes(word))
      ? [...text.matchAll(expression)].map(({ 0: found, index }) => ({
          start: index,
          end: index + found.length,
          pattern: name,
        }))
      : [],
  );
}

function namesOfPatterns(letters: string): readonly string[] {
  return COMPILED.flatMap(({ name, expression, joined }) =>
    letters.search(expression) !== -1 || joined.test(letters) ? [name] : [],
  );
}

/** Phrases that may be said are out of sight, and everything else is where it was. */
function maskPhrases(text: string, phrases: readonly string[]): string {
  return phrases.reduce(
    (masked, phrase) =>
      masked.replaceAll(new RegExp(RegExp.escape(phrase), 'gi'), (found) => '\0'.repeat(found.length)),
    text,
  );
}
