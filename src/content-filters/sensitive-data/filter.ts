import type { BuiltinFilterSlug } from '../../canonical/guardrail-rules.ts';
import type { ContentFilter, Matcher, Span } from '../contract.ts';
import { findCardNumbers } from './card-numbers.ts';
import { findEmails } from './emails.ts';
import { findIpAddresses } from './ip-addresses.ts';
import { findPhoneNumbers } from './phone-numbers.ts';
import { findSocialSecurityNumbers } from './social-security-numbers.ts';

/** Data with a recognizable form. @spec filter-5 */
export const sensitiveData: ContentFilter = {
  id: 'sensitive-data',
  lateRequests: 'refused',
  readsRawJson: false,
  matcherOf: (rule) => (rule.kind === 'builtin' ? MATCHERS[rule.slug] : undefined),
};

/** Each looks at a character a few times at the most. */
const STEPS_PER_CHAR = 40;
const DIGIT = /\d/;

const MATCHERS: Readonly<Partial<Record<BuiltinFilterSlug, Matcher>>> = {
  email: matcherOf('email', findEmails, 320, (text) => text.includes('@')),
  phone: matcherOf('phone', findPhoneNumbers, 64, hasDigit),
  ssn: matcherOf('ssn', findSocialSecurityNumbers, 64, hasDigit),
  'credit-card': matcherOf('credit-card', findCardNumbers, 40, hasDigit),
  'ip-address': matcherOf('ip-address', findIpAddresses, 64, (text) => text.includes('.') || text.includes(':')),
};

function hasDigit(text: string): boolean {
  return DIGIT.test(text);
}

/** All of them look for plain characters, however those are dressed up. */
function matcherOf(
  slug: BuiltinFilterSlug,
  findIn: (text: string) => readonly Span[],
  matchCharsMax: number,
  mayMatch: Matcher['mayMatch'],
): Matcher {
  return {
    mayMatch,
    stepsFor: (chars) => chars * STEPS_PER_CHAR,
    matchCharsMax,
    find: ({ folded }) => findIn(folded.text).map((span) => ({ ...folded.back(span), pattern: slug })),
  };
}
