/** Characters of a token, at the least: other scripts than Latin have fewer. */
const CHARS_PER_TOKEN = 2;
/** For the questions, the marks around the state and the reply. */
const RESERVED_TOKENS = 6_144;
const STATE_CHARS_MIN = 2_000;

/** A state as long as a context takes, cut in its middle: what it begins with and what it ends with say the most. */
export function fitState(state: string, contextTokens: number | undefined): string {
  if (contextTokens === undefined) return state;
  return cutMiddle(state, Math.max(STATE_CHARS_MIN, (contextTokens - RESERVED_TOKENS) * CHARS_PER_TOKEN));
}

/** @param charsMax of the text that is kept; the mark is beside it */
export function cutMiddle(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const left = text.length - 2 * half;
  return `${text.slice(0, half).toWellFormed()}\n...[${left} characters left out]...\n${text.slice(-half).toWellFormed()}`;
}
