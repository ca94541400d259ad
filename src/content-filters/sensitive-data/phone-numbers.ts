import type { Span } from '../contract.ts';

/** @source ITU-T E.164: 15 digits with the country's; shorter ones than 7 are of one town. */
const DIGITS_MIN = 7;
const DIGITS_MAX = 15;

const CANDIDATE = /(?<![\w.,:/$€£#=-]|\d )(?:\+|00)?\(?\d(?:[ \t]?[\d().\-/–]){5,22}(?<=\d)(?![\w%€$]|[.,:]\d|-\d)/gu;

const INTERNATIONAL = /^(?:\+|00)[1-9]/;
/** `(415) 555-2671`, `415-555-2671`, `1 415.555.2671`. @source North American Numbering Plan: areas and exchanges begin with 2 to 9 */
const NORTH_AMERICAN = /^(?:1[ .-]?)?(?:\([2-9]\d{2}\)[ .-]?|[2-9]\d{2}([ .-]))[2-9]\d{2}[ .-]\d{4}$/;
/** The same form with digits that the plan does not give out, as in made-up numbers; spaces alone would mark any figures. */
const IN_ITS_FORM = /^(?:1[ .-]?)?(?:\(\d{3}\)[ .-]?|\d{3}[.-])\d{3}[.-]\d{4}$/;
/** A trunk prefix, and groups: `020 7946 0958`, `030/1234567`, `01 23 45 67 89`. */
const NATIONAL = /^\(?0\d{1,4}\)?[ /-]\d{2,8}(?:[ -]\d{2,5}){0,4}$/;
const NATIONAL_DIGITS_MIN = 9;
const BARE = /^\d{7,12}$/;
/** What a number without any form has to be called to be one. */
const CALLED =
  /(?:\b(?:phone|telephone|tel|mobile|cell|cellphone|call|text|sms|fax|whatsapp|dial|ring|telefon|handy|tél|téléphone)\b)[^\d\n[\]]{0,20}$/iu;
const CALLED_CHARS = 40;

/** Numbers in the forms in which people write them down; a bare row of digits only where it is called a number to dial. */
export function findPhoneNumbers(text: string): readonly Span[] {
  const found: Span[] = [];
  for (const { 0: candidate, index } of text.matchAll(CANDIDATE))
    if (isPhoneNumber(candidate, text, index)) found.push({ start: index, end: index + candidate.length });
  return found;
}

function isPhoneNumber(candidate: string, text: string, index: number): boolean {
  const digits = candidate.replace(/\D/g, '').length;
  if (digits < DIGITS_MIN || digits > DIGITS_MAX) return false;
  if ([INTERNATIONAL, NORTH_AMERICAN, IN_ITS_FORM].some((form) => form.test(candidate))) return true;
  if (NATIONAL.test(candidate)) return digits >= NATIONAL_DIGITS_MIN;
  const isCalled = (): boolean => CALLED.test(text.slice(Math.max(0, index - CALLED_CHARS), index));
  return (BARE.test(candidate) || /^\d{3}[ .-]\d{4}$/.test(candidate)) && isCalled();
}
