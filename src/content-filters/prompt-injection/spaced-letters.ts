import type { Match } from '../contract.ts';

/** Single letters with one and the same kind of gap between them: `i g n o r e`, `i.g.n.o.r.e`, `i-g-n-o-r-e   a-l-l`. */
const SPACED = /(?<![a-z0-9])[a-z](?:[ \t.\-_*|/,]{1,4}[a-z](?![a-z0-9])){5,}/gi;

/**
 * Letters that stand apart, put together again. @param namesOf what is found in them; they may have lost the spaces between
 * their words
 */
export function findSpaced(text: string, namesOf: (letters: string) => readonly string[]): readonly Match[] {
  const found: Match[] = [];
  for (const { 0: spaced, index: start } of text.matchAll(SPACED)) {
    const letters = collapse(spaced);
    for (const name of namesOf(letters)) found.push({ start, end: start + spaced.length, pattern: name });
  }
  return found;
}

/** A gap that is wider than the others is one between words. */
function collapse(spaced: string): string {
  const gaps = spaced.match(/[^a-z]+/gi) ?? [];
  const narrowest = gaps.reduce((least, { length }) => Math.min(least, length), Number.POSITIVE_INFINITY);
  return spaced.replace(/[^a-z]+/gi, (gap) => (gap.length > narrowest ? ' ' : ''));
}
