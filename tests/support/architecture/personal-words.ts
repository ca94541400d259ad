import { readTokens } from './source-tokens.ts';

/** Words for people. A program has none of them: prose names the provider, the request or the caller instead. */
const PERSONAL = /\b(?:who|whom|whoever|nobody|somebody|anybody|everybody|told|asked|asker)\b/gi;

/** Uses that are right, each with the reason. They are removed before the search. */
const ALLOWED: readonly (readonly [pattern: RegExp, why: string])[] = [
  [
    /\b(?:people|persons?|anyone|users?|operators?|authors?|readers?|developers?|engineers?|attackers?) who\b/gi,
    'people',
  ],
  [/`[^`]*`/g, 'code'],
  [/"[^"]*"/g, 'a quotation'],
];

export interface PersonalWord {
  readonly word: string;
  readonly line: number;
}

/** Files that still have such words: migrations that have landed, whose text cannot change. */
export const UNCLEAN: readonly string[] = [
  'src/store/migrations/0011-tool-costs-and-apps.ts',
  'src/store/migrations/0013-mend-edited-migrations.ts',
];

/** Words for people in the comments and test names of one TypeScript source. */
export function findPersonalWords(source: string): readonly PersonalWord[] {
  return readProse(source).flatMap(({ text, line }) => findIn(text, line));
}

/** Words for people in one page of Markdown. Blocks of code are left out. */
export function findPersonalWordsOfPage(page: string): readonly PersonalWord[] {
  const withoutBlocks = page.replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ''));
  return findIn(withoutBlocks, 1);
}

/** Words for people in a text that callers, operators or models read. */
export function findPersonalWordsOfText(text: string): readonly string[] {
  return findIn(text, 1).map(({ word }) => word);
}

interface Prose {
  readonly text: string;
  readonly line: number;
}

function readProse(source: string): readonly Prose[] {
  const found: Prose[] = [];
  const tokens = readTokens(source, undefined, (text, line) => found.push({ text, line }));
  tokens.forEach(({ kind, text, line }, index) => {
    if (kind === 'string' && tokens[index - 1]?.text === '(' && isDeclaration(tokens[index - 2]?.text))
      found.push({ text, line });
  });
  for (const { 1: text = '', index } of source.matchAll(/\b(?:test|suite)\(\s*`([^`]*)`/g))
    found.push({ text: text.replaceAll(/\$\{[^}]*\}/g, ''), line: source.slice(0, index).split('\n').length });
  return found;
}

function isDeclaration(word: string | undefined): boolean {
  return word === 'test' || word === 'suite';
}

function findIn(text: string, line: number): readonly PersonalWord[] {
  const searched = ALLOWED.reduce(
    (rest, [pattern]) => rest.replaceAll(pattern, (part) => part.replaceAll(/[^\n]/g, ' ')),
    text,
  );
  return [...searched.matchAll(PERSONAL)].map(({ 0: word, index }) => ({
    word,
    line: line + searched.slice(0, index).split('\n').length - 1,
  }));
}
