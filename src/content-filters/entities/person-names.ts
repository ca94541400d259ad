import type { Span } from '../contract.ts';
import { GIVEN_NAMES } from './given-names.ts';

/** A capital and small letters, also `O'Neill`, `McDonald`, `Jean-Luc`, or one letter with a point. */
const WORD = String.raw`\p{Lu}(?:\.(?=\s)|['’]\p{Lu})?[\p{Ll}\p{M}]{0,24}(?:[-'’]?\p{Lu}[\p{Ll}\p{M}]{1,24}){0,2}`;
/** Small words inside of names. */
const PARTICLE = String.raw`(?:van|von|der|den|de|del|della|di|da|dos|la|le|al|bin|ibn|zu|ter)[ ]`;
const NAME = String.raw`${WORD}(?:[ ](?:${PARTICLE}){0,2}${WORD}){0,3}`;

const TITLED = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:Mrs?|Ms|Mx|Miss|Mister|Dr|Prof|Professor|Herr|Frau|Mme|Mlle|Monsieur|Madame|Señora?|Sra|Srta|Sir|Dame|Signora?|Rev)\.?[ ](?:(?:Dr|Prof)\.[ ])?(${NAME})`,
  'gu',
);
const ANNOUNCED = new RegExp(
  String.raw`(?<![\p{L}\p{N}])(?:[Mm]y (?:full )?name(?:['’]s| is)|[Nn]ame[sd]?(?: is)?:?|I am called|[Ii]ch hei(?:ß|ss)e|[Jj]e m['’]appelle|[Mm]e llamo|[Pp]atient(?:['’]s name)?:|[Cc]ustomer:|[Ee]mployee:|[Cc]ontact:|[Aa]ttn:?|[Ss]igned(?: by)?:?|[Dd]ear|[Rr]egards,|[Ss]incerely,)\s{1,3}(${NAME})`,
  'gu',
);
/** Two names at the least, of which the first is looked up. */
const PLAIN = new RegExp(
  String.raw`(?<![\p{L}\p{N}'’-])(\p{Lu}[\p{Ll}]{1,14})(?:-\p{Lu}[\p{Ll}]{1,14})?((?:[ ](?:${PARTICLE}){0,2}${WORD}){1,3})(?![\p{Ll}])`,
  'gu',
);

/** What is written with a capital and is no name of a person. */
const NO_NAMES: ReadonlySet<string> = new Set(
  `sir madam team all everyone colleagues customer support hiring manager user students friends parents children street
  avenue road university college school hospital airport park bridge institute foundation company county city island lake
  river bay beach museum library church cathedral award prize effect theorem law equation street day january february
  march april june july august september october november december monday tuesday wednesday thursday friday saturday
  sunday file field column table type class string null undefined true false this that the a an is are was will id`.split(
    /\s+/,
  ),
);

/** Names that a title or a phrase announces, and names whose first one is well known and has another one behind it. */
export function findPersonNames(text: string): readonly Span[] {
  const found: Span[] = [];
  for (const expression of [TITLED, ANNOUNCED])
    for (const { 0: all, 1: name = '', index } of text.matchAll(expression)) {
      const start = index + all.length - name.length;
      const words = countNames(name);
      if (words > 0) found.push({ start, end: start + lengthOf(name, words) });
    }
  for (const { 0: all, 1: first = '', 2: rest = '', index } of text.matchAll(PLAIN)) {
    if (!GIVEN_NAMES.has(first.toLowerCase().normalize('NFD').replace(/\p{M}/gu, ''))) continue;
    const words = countNames(rest.trimStart());
    const head = all.length - rest.length + 1;
    if (words > 0) found.push({ start: index, end: index + head + lengthOf(rest.trimStart(), words) });
  }
  return found.toSorted((one, other) => one.start - other.start);
}

/** The number of further words that belong to the name. */
function countNames(name: string): number {
  const words = name.split(' ');
  const end = words.findIndex((word) => NO_NAMES.has(word.toLowerCase()));
  const count = end === -1 ? words.length : end;
  // A small word does not end a name.
  return words.slice(0, count).findLastIndex((word) => /^\p{Lu}/u.test(word)) + 1;
}

function lengthOf(name: string, words: number): number {
  return name.split(' ').slice(0, words).join(' ').length;
}
