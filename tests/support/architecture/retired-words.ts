import { readTokens } from './source-tokens.ts';

/** Words of names that the project no longer uses, and what stands in their place. Names of the public interface are not judged: they are strings. */
const RETIRED: ReadonlyMap<string, string> = new Map([
  ...inPlaceOf(['draw', 'draws', 'drawn', 'drawing', 'drawer'], 'encode, serialize, format or render'),
  ...inPlaceOf(['told'], 'reported'),
  ...inPlaceOf(['asker'], 'principal'),
  ...inPlaceOf(['till'], 'budget reservation'),
  ...inPlaceOf(['wish', 'wishes', 'wished'], 'estimate, input, preference or setting'),
  ...inPlaceOf(['passage'], 'permit'),
  ...inPlaceOf(['censor'], 'redact'),
  ...inPlaceOf(['nobody', 'nobodys', 'somebody', 'everybody', 'whoever', 'whom'], 'the name of the thing'),
]);

/** Names that hold such a word in another sense. */
const ALLOWED: ReadonlyMap<string, string> = new Map([
  ['censor', 'an option of pino'],
  ['draws', 'numbers or pictures that are drawn'],
  ['DRAWS_AND_REFUSES', 'a model draws a picture'],
  ['WHOLE_DRAWS_AND_REFUSES', 'a model draws a picture'],
  ['DRAWN_AT_RANDOM', 'a model that is drawn by lot'],
  ['a_member_that_nobody_knows', 'a member of a request that no format has'],
  ['readNoBody', 'there is no body'],
  ['open_wish', 'a label that a judge answers with'],
]);

export interface RetiredName {
  readonly name: string;
  readonly line: number;
  readonly instead: string;
}

/** Names in one TypeScript source that hold a retired word. Comments, strings and templates are left out. */
export function findRetiredNames(source: string): readonly RetiredName[] {
  return readTokens(source).flatMap(({ kind, text, line }) => {
    if (kind !== 'word' || ALLOWED.has(text)) return [];
    const instead = wordsOf(text).map((word) => RETIRED.get(word));
    const first = instead.find((words) => words !== undefined);
    return first === undefined ? [] : [{ name: text, line, instead: first }];
  });
}

/** `readHTTPBody`, `READ_BODY` and `read_body` are three, two and two words. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split('_');
}

function inPlaceOf(words: readonly string[], instead: string): readonly (readonly [string, string])[] {
  return words.map((word) => [word, instead] as const);
}
