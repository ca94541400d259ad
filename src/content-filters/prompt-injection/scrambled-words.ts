import type { Match } from '../contract.ts';

/** Instructions to a model, and their objects. @spec filter-16 */
const DEEDS = ['ignore', 'bypass', 'override', 'reveal', 'delete'] as const;
const THINGS = ['system', 'prompt', 'instructions'] as const;

/** By first letter, last letter, and the sorted letters between them. */
const BY_SHAPE: ReadonlyMap<string, string> = new Map([...DEEDS, ...THINGS].map((word) => [shapeOf(word), word]));
const WORDS = /[a-z]{6,12}/gi;
/** A scrambled word alone is a slip of the fingers; with what it belongs to so close by it is none. */
const NEAR_CHARS = 80;

interface Found {
  readonly start: number;
  readonly end: number;
  readonly word: string;
  readonly scrambled: boolean;
  readonly isDeed: boolean;
}

/** Readable for a model, and for no pattern: `ignroe all prevoius instructoins`. */
export function findScrambled(text: string): readonly Match[] {
  const found = findWords(text);
  if (!found.some(({ scrambled }) => scrambled)) return [];
  const near = found.filter((one, index) => isPaired(one, found[index - 1]) || isPaired(one, found[index + 1]));
  return near
    .filter(({ scrambled }) => scrambled)
    .map(({ start, end, word }) => ({ start, end, pattern: `evasion.scrambled_${word}` }));
}

function isPaired(one: Found, other: Found | undefined): boolean {
  if (other === undefined || one.isDeed === other.isDeed) return false;
  return Math.max(one.start, other.start) - Math.min(one.end, other.end) <= NEAR_CHARS;
}

function findWords(text: string): readonly Found[] {
  const found: Found[] = [];
  for (const { 0: written, index: start } of text.matchAll(WORDS)) {
    const lower = written.toLowerCase();
    const word = isInitial(lower) ? BY_SHAPE.get(shapeOf(lower)) : undefined;
    if (word === undefined) continue;
    const isDeed = DEEDS.some((deed) => deed === word);
    found.push({ start, end: start + written.length, word, scrambled: lower !== word, isDeed });
  }
  return found;
}

/** Most words are none of them by their first letter. */
function isInitial(word: string): boolean {
  return 'iborspd'.includes(word[0] ?? ' ');
}

function shapeOf(word: string): string {
  return `${word[0]}${word.slice(1, -1).split('').toSorted().join('')}${word.at(-1)}`;
}
