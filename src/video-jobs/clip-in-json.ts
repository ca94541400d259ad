/** How far into an answer the member may begin. */
const HEAD_BYTES_MAX = 1_048_576;
/** The longest escape in JSON but its last character: what may be cut at the end of a piece. */
const ESCAPE_CHARS = 5;
/** Base64 in which the type of a clip can be seen. */
const FIRST_CHARS = 4_096;
const QUOTE = 0x22;
const TEXT = /^[A-Za-z0-9+/]*={0,2}$/;

/** The answer is none in which a clip stands. */
export class NoClipInside extends Error {
  override readonly name = 'NoClipInside';
}

/** Looks for the beginning of a text of JSON, piece by piece. A class because it remembers what came. */
export class TextMember {
  readonly #beginning: RegExp;
  readonly #name: string;
  #seen = '';

  /** @param name letters and digits alone */
  constructor(name: string) {
    this.#name = `"${name}"`;
    this.#beginning = new RegExp(`"${name}"\\s{0,64}:\\s{0,64}"`);
  }

  /** Whether the text has begun. */
  push(piece: Uint8Array): boolean {
    return this.rest(piece) !== undefined;
  }

  /** What follows its first quote. `undefined`: it has not begun. */
  rest(piece: Uint8Array): Buffer | undefined {
    const before = this.#seen;
    const text = before + Buffer.from(piece).toString('latin1');
    const match = this.#beginning.exec(text);
    if (match !== null) return Buffer.from(text.slice(match.index + match[0].length), 'latin1');
    // Enough for a name that is cut, with the spaces after it.
    this.#seen = text.slice(-(this.#name.length + 131));
    return undefined;
  }
}

/**
 * The bytes of a clip that stands as base64 in JSON, as they come: nothing but a piece is kept.
 * @throws NoClipInside where it is not there, is no base64, or breaks off
 */
export async function* clipIn(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const member = new TextMember(name);
  let skipped = 0;
  let isInside = false;
  let left = '';
  let charsMin = FIRST_CHARS;
  for await (const chunk of chunks) {
    let piece: Uint8Array | undefined = chunk;
    if (!isInside) {
      skipped += chunk.length;
      piece = member.rest(chunk);
      if (piece === undefined && skipped > HEAD_BYTES_MAX) break;
    }
    if (piece === undefined) continue;
    isInside = true;
    const end = piece.indexOf(QUOTE);
    left += Buffer.from(end < 0 ? piece : piece.subarray(0, end)).toString('latin1');
    if (end >= 0) {
      yield decode(unescape(left));
      return;
    }
    if (left.length < charsMin) continue;
    const cut = left.indexOf('\\', left.length - ESCAPE_CHARS);
    const text = unescape(cut < 0 ? left : left.slice(0, cut));
    const whole = text.length - (text.length % 4);
    left = text.slice(whole) + (cut < 0 ? '' : left.slice(cut));
    charsMin = 1;
    if (whole > 0) yield decode(text.slice(0, whole));
  }
  throw new NoClipInside(isInside ? 'The clip broke off.' : 'The response has no clip.');
}

/** Google writes `=` as `\\u003d` in places, others `/` with a backslash. */
function unescape(text: string): string {
  if (!text.includes('\\')) return text;
  return text
    .replaceAll('\\/', '/')
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function decode(text: string): Uint8Array {
  if (!TEXT.test(text)) throw new NoClipInside('The clip is no base64.');
  return Buffer.from(text, 'base64');
}
