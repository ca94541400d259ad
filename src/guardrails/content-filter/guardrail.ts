import { setBounded } from '../../lib/bounded-map.ts';
import type { Guardrail, Match, Matcher, PatternRule, Writing } from '../contract.ts';
import { readPattern } from './pattern-facts.ts';

/** Patterns of the operator's own, by the engine of the language. @source areas.md 6 "Custom filter" */
export const contentFilter: Guardrail = {
  id: 'content-filter',
  lateRequests: 'refused',
  readsRawJson: true,
  matcherOf: (rule) => (rule.kind === 'pattern' ? matcherOf(rule) : undefined),
};

/** Policies are read again every few seconds, and say the same. */
const MATCHERS_MAX = 200;
const matchers = new Map<string, Matcher>();

function matcherOf({ pattern, name }: PatternRule): Matcher {
  const key = `${name}\0${pattern}`;
  const matcher = matchers.get(key) ?? makeMatcher(pattern, name);
  setBounded(matchers, key, matcher, MATCHERS_MAX);
  return matcher;
}

function makeMatcher(pattern: string, name: string): Matcher {
  const expression = new RegExp(pattern, 'g');
  const { literals, stepsFor, matchCharsMax } = readPattern(pattern);
  return {
    mayMatch: literals === undefined ? () => true : (text) => literals.some((literal) => text.includes(literal)),
    stepsFor: rememberSteps(stepsFor),
    matchCharsMax,
    find(view) {
      const matches = findIn(view, expression, name);
      return view.visible.text === view.text ? matches : [...matches, ...findIn(view.visible, expression, name)];
    },
  };
}

/** Asked for every text of every request: counted for powers of two, and kept. */
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
