import { createLruCache } from '../../lib/cache/lru-cache.ts';

/** Which characters may stand somewhere: one flag for each of the first 256, and one for all others together. */
export type CharacterSet = bigint;

const LATIN_1 = 256;
const ASCII = 128;
export const NO_CHARACTER: CharacterSet = 0n;
export const ANY_CHARACTER: CharacterSet = (1n << BigInt(LATIN_1 + 1)) - 1n;

/** Patterns are made of few different classes. */
const CLASSES_MAX = 500;
const known = createLruCache<string, CharacterSet>(CLASSES_MAX);

/** @param raw one character of a pattern, or one class of them: `a`, `\d`, `[^"]` */
export function charactersOf(raw: string): CharacterSet {
  const before = known.get(raw);
  if (before !== undefined) return before;
  const one = new RegExp(`^(?:${raw})$`, 's');
  let set = 0n;
  for (let code = 0; code < LATIN_1; code++) if (one.test(String.fromCharCode(code))) set |= 1n << BigInt(code);
  if (new RegExp(raw, 's').test(otherCharacters())) set |= 1n << BigInt(LATIN_1);
  known.set(raw, set);
  return set;
}

const UNITS = 65_536;
let others: string | undefined;

function otherCharacters(): string {
  others ??= String.fromCharCode(...Array.from({ length: UNITS - LATIN_1 }, (_, index) => LATIN_1 + index));
  return others;
}

export function unite(one: CharacterSet, other: CharacterSet): CharacterSet {
  return one | other;
}

export function areDisjoint(one: CharacterSet, other: CharacterSet): boolean {
  return (one & other) === 0n;
}

/** Whether each of the first 128 characters is in the set, in either case: a group of a pattern may ignore case. */
export function asciiOf(set: CharacterSet): readonly boolean[] {
  const has = (character: string): boolean => (set & (1n << BigInt(character.charCodeAt(0)))) !== 0n;
  return Array.from({ length: ASCII }, (_, code) => {
    const character = String.fromCharCode(code);
    return has(character.toLowerCase()) || has(character.toUpperCase());
  });
}
