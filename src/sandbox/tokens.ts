/** A token holds at most so many characters of a word. */
const TOKEN_CHARS = 4;

/**
 * The sandbox's tokenizer, simple enough to count by hand: every run of characters that are not white space is cut
 * into tokens of up to four characters (code points), and white space belongs to the token after it. White space at
 * the end belongs to the last token; text of white space only is one token. The tokens joined are the text.
 *
 * `"Hello, world"` is `["Hell", "o,", " worl", "d"]`.
 */
export function splitTokens(text: string): readonly string[] {
  const tokens: string[] = [];
  let from = 0;
  let to = nextTokenEnd(text, 0);
  while (to > from) {
    tokens.push(text.slice(from, to));
    from = to;
    to = nextTokenEnd(text, from);
  }
  return tokens;
}

/** How many tokens `splitTokens` gives, without making them. */
export function countTokens(text: string): number {
  let count = 0;
  for (let from = 0, to = nextTokenEnd(text, 0); to > from; from = to, to = nextTokenEnd(text, from)) count++;
  return count;
}

/** Where the token that starts at `from` ends; `from` itself at the end of the text. */
function nextTokenEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  for (let chars = 0; chars < TOKEN_CHARS && at < text.length && !isSpace(text.charCodeAt(at)); chars++)
    at += isSurrogatePair(text, at) ? 2 : 1;
  // Nothing but white space may follow the last token.
  let end = at;
  while (end < text.length && isSpace(text.charCodeAt(end))) end++;
  return end === text.length ? end : at;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xa0;
}

function isSurrogatePair(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 0xd800 || code > 0xdbff) return false;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

/** Cuts text into pieces of about `chars` characters, never inside a character. For the arguments of a call. */
export function splitPieces(text: string, chars: number): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + chars, text.length);
    if (isSurrogatePair(text, to - 1)) to++;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
