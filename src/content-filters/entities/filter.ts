import type { BuiltinFilterSlug } from '../../canonical/guardrail-rules.ts';
import type { ContentFilter, Matcher, Span } from '../contract.ts';
import { findAddresses } from './addresses.ts';
import { findPersonNames } from './person-names.ts';

/**
 * Names of persons and postal addresses, by rules and word lists: no model of language, so names that are on no list and
 * that nothing announces are not found. @spec filter-5
 */
export const entities: ContentFilter = {
  id: 'entities',
  lateRequests: 'pass',
  readsRawJson: false,
  matcherOf: (rule) => (rule.kind === 'builtin' ? MATCHERS[rule.slug] : undefined),
};

const STEPS_PER_CHAR = 60;
const MATCH_CHARS_MAX = 160;
const CAPITAL = /\p{Lu}/u;
const NUMBER = /\d/;

const MATCHERS: Readonly<Partial<Record<BuiltinFilterSlug, Matcher>>> = {
  'person-name': matcherOf('person-name', findPersonNames, (text) => CAPITAL.test(text)),
  address: matcherOf('address', findAddresses, (text) => NUMBER.test(text)),
};

function matcherOf(
  slug: BuiltinFilterSlug,
  findIn: (text: string) => readonly Span[],
  mayMatch: Matcher['mayMatch'],
): Matcher {
  return {
    mayMatch,
    stepsFor: (chars) => chars * STEPS_PER_CHAR,
    matchCharsMax: MATCH_CHARS_MAX,
    // Names are written in the letters of their language.
    find: ({ visible }) => findIn(visible.text).map((span) => ({ ...visible.back(span), pattern: slug })),
  };
}
