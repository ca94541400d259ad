import { parseJson } from '../lib/json.ts';
import type { Span } from './contract.ts';

/** A string or a number of a JSON text. */
export interface JsonValue extends Span {
  /** What it says: of a string its characters, of a number its digits. */
  readonly text: string;
  readonly isName: boolean;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;
const COLON_NEXT = /\s*:/y;

/** Every string and number in it, names of members too, in their order; `undefined`: the text is no JSON. */
export function readJsonValues(text: string): readonly JsonValue[] | undefined {
  if (parseJson(text) === undefined) return undefined;
  const values: JsonValue[] = [];
  for (const { 0: token, index: start } of text.matchAll(TOKENS)) {
    const end = start + token.length;
    COLON_NEXT.lastIndex = end;
    const isString = token.startsWith('"');
    const decoded = isString ? parseJson(token) : token;
    values.push({
      start,
      end,
      text: typeof decoded === 'string' ? decoded : token,
      isName: isString && COLON_NEXT.test(text),
    });
  }
  return values;
}
