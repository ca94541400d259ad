import type { Span } from '../contract.ts';

// Numbers that were never given out: area 000, 666 and 900 to 999, group 00, serial 0000.
// @source U.S. Social Security Administration, "Social Security Number Randomization"
const DASHED = /(?<![\d-])(?!000|666|9)\d{3}([- .])(?!00)\d{2}\1(?!0000)\d{4}(?![-.]?\d)/g;
/** Nine digits in a row are all sorts of things, unless they are called so. */
const NAMED =
  /(?:\bssn|social\s{1,3}security(?:\s{1,3}(?:number|no\.?|#))?)\W{0,3}(?:is\s{1,3}|of\s{1,3})?((?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4})(?!\d)/gi;

export function findSocialSecurityNumbers(text: string): readonly Span[] {
  const dashed = [...text.matchAll(DASHED)].map(({ 0: found, index }) => ({ start: index, end: index + found.length }));
  const named = [...text.matchAll(NAMED)].map(({ 0: found, 1: digits = '', index }) => ({
    start: index + found.length - digits.length,
    end: index + found.length,
  }));
  return named.length === 0 ? dashed : [...dashed, ...named];
}
