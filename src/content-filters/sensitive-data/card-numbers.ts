import type { Span } from '../contract.ts';

const DIGITS_MIN = 13;
const DIGITS_MAX = 19;

/** Groups of digits, one space or one hyphen between two of them. What stands behind a point is a fraction. */
const GROUPS = /(?<!\d\.?|\d[.,])\d+(?:[ -]\d+)*/g;
/**
 * What the numbers of the larger schemes begin with, and how long they are.
 * @source ISO/IEC 7812-1, and the schemes' published ranges: Visa, Mastercard, American Express, Diners, JCB, Discover,
 * UnionPay, Maestro
 */
const SCHEMES =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}|3(?:0[0-59]|[689]\d)\d{11,16}|35(?:2[89]|[3-8]\d)\d{12,15}|6(?:011|4[4-9]\d|5\d\d)\d{12,15}|62\d{14,17}|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{8,15})$/;

/** Numbers of 13 to 19 digits with the right check digit, all in one or in groups. */
export function findCardNumbers(text: string): readonly Span[] {
  const found: Span[] = [];
  for (const { 0: run, index } of text.matchAll(GROUPS)) {
    if (run.length < DIGITS_MIN) continue;
    const groups = [...run.matchAll(/\d+/g)].map(({ 0: digits, index: start }) => ({ digits, start: index + start }));
    for (let first = 0; first < groups.length;) {
      const last = endOfNumber(groups, first);
      const [from, to] = [groups[first], last === undefined ? undefined : groups[last]];
      if (last !== undefined && from !== undefined && to !== undefined)
        found.push({ start: from.start, end: to.start + to.digits.length });
      first = (last ?? first) + 1;
    }
  }
  return found;
}

/** The group that the longest number ends with which begins with this one. */
function endOfNumber(groups: readonly { readonly digits: string }[], first: number): number | undefined {
  let digits = '';
  let end: number | undefined;
  for (let last = first; last < groups.length; last++) {
    digits += groups[last]?.digits ?? '';
    if (digits.length > DIGITS_MAX) return end;
    if (digits.length >= DIGITS_MIN && SCHEMES.test(digits) && passesLuhn(digits)) end = last;
  }
  return end;
}

/** @source ISO/IEC 7812-1, annex B */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = digit * 2;
    sum += place % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  // A run of one digit, zeros before all, is a place that was left for a number.
  return sum % 10 === 0 && new Set(digits).size > 1;
}
