import { findPersonalWordsOfText } from './personal-words.ts';
import { readTokens } from './source-tokens.ts';

/** What texts that callers, operators and models read no longer say, and what they say instead. */
const RETIRED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [
    /(?<=\b(?:an?|the|its|their|your|whole|no|one|every|earlier|streamed|cached|other|another|several|of|without)\s|'s )answers?\b/gi,
    'response',
  ],
  [/\bcannot (?:be said|say)\b|\bno words for\b/gi, 'is not supported, has no field for'],
  [/\b(?:known|unknown|such|own) members?\b|\bmembers that are left out\b/gi, 'field'],
  [/\bwhat was said\b/gi, 'content'],
  [/\bcredentials that callers brought\b/gi, 'BYOK credentials'],
];

/** Texts that hold such a word in another sense. */
const ALLOWED: ReadonlyMap<string, string> = new Map([
  ['each step has its answer', 'a reply of Redis'],
  ['two answers', 'what an attack says'],
]);

/** In a pattern or a program in another language. */
const NOT_PROSE = /\\[bs]|\blocal function\b/;

export interface RetiredText {
  readonly words: string;
  readonly line: number;
  readonly instead: string;
}

/** Retired words in the strings and templates of one TypeScript source that are prose: they hold a space. */
export function findRetiredTexts(source: string): readonly RetiredText[] {
  const texts: { readonly text: string; readonly line: number }[] = [];
  const tokens = readTokens(source, undefined, undefined, (text, line) => texts.push({ text, line }));
  texts.push(...tokens.filter(({ kind }) => kind === 'string'));
  return texts
    .filter(({ text }) => /\s/.test(text) && !ALLOWED.has(text) && !NOT_PROSE.test(text))
    .flatMap(({ text, line }) => findIn(text, line));
}

function findIn(text: string, line: number): readonly RetiredText[] {
  const retired = RETIRED.flatMap(([pattern, instead]) =>
    [...text.matchAll(pattern)].map(({ 0: words }) => ({ words, line, instead })),
  );
  const personal = findPersonalWordsOfText(text).map((words) => ({ words, line, instead: 'the name of the thing' }));
  return [...retired, ...personal];
}
