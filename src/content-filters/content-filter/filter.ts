import { createLruCache } from '../../lib/cache/lru-cache.ts';
import type { ContentFilter, Match, Matcher, PatternRule, Writing } from '../contract.ts';
import { asciiOf } from './character-sets.ts';
import { readPattern } from './pattern-facts.ts';

/** Patterns of the operator's own, by the engine of the language. @spec filter-2 */
export const contentFilter: ContentFilter = {
  id: 'content-filter',
  lateRequests: 'refused',
  readsRawJson: true,
  matcherOf: (rule) => (rule.kind === 'pattern' ? matcherOf(rule) : undefined),
};

/** Policies are read again every few seconds, and say the same. */
const MATCHERS_MAX = 200;
const matchers = createLruCache<string, Matcher>(MATCHERS_MAX);

function matcherOf({ pattern, name }: PatternRule): Matcher {
  const key = `${name}\0${pattern}`;
  const matcher = matchers.get(key) ?? makeMatcher(pattern, name);
  matchers.set(key, matcher);
  return matcher;
}

function makeMatcher(pattern: string, name: string): Matcher {
  const expression = new RegExp(pattern, 'g');
  const { literals, stepsFor, matchCharsMax, characters } = readPattern(pattern);
  const spanned = asciiOf(characters);
  return {
    mayMatch: literals === undefined ? () => true : (text) => literals.some((literal) => text.includes(literal)),
    stepsFor: rememberSteps(stepsFor),
    matchCharsMax,
    openStart: (text) => openStartOf(text, spanned),
    find(view) {
      const matches = findIn(view, expression, name);
      return view.visible.text === view.text ? matches : [...matches, ...findIn(view.visible, expression, name)];
    },
  };
}

/** Characters beyond ASCII may be left out before a match is looked for, so that one may go over any of them. */
function openStartOf(text: string, spanned: readonly boolean[]): number {
  let start = text.length;
  while (start > 0 && (spanned[text.charCodeAt(start - 1)] ?? true)) start--;
  return start;
}

/** Needed for every text of every request: computed for powers of two, and cached. */
function rememberSteps(stepsFor: Matcher['stepsFor']): Matcher['stepsFor'] {
  const known: number[] = [];
  return (chars) => {
    const power = Math.ceil(Math.log2(Math.max(1, chars)));
    return (known[power] ??= stepsFor(2 ** power));
  };
}

function findIn(writing: Writing, expression: RegExp, name: string): readonly Match[] {
  const matches: Match[] = [];
  for (const { 0: found, index: start } of writing.text.matchAll(expression))
    if (found !== '') matches.push({ ...writing.back({ start, end: start + found.length }), pattern: name });
  return matches;
}
