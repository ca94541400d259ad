/** Of the text around the bytes, the last of it. */
const REST_CHARS_MAX = 65_536;
/** The beginning of a member may be cut between two pieces: its name, spaces, the colon and the quote. */
const KEPT_CHARS = 128;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/g;
const QUAD = 4;

/**
 * Takes the bytes of a member in base64 out of a JSON text while that comes, as often as it stands there. Nothing is held
 * but what is cut in the middle, and the end of the text around it.
 */
export class Base64Member {
  readonly #opening: RegExp;
  #isInside = false;
  /** Not looked at yet, as Latin-1. */
  #pending = '';
  /** Base64 that is no whole quad yet. */
  #quads = '';
  #rest = '';

  /** @param name of the member, letters and underscores */
  constructor(name: string) {
    this.#opening = new RegExp(`"${name}"\\s{0,16}:\\s{0,16}"`);
  }

  /** The text around the bytes, as far as it is kept: the bytes themselves are an empty text in it. */
  get rest(): string {
    return Buffer.from(this.#rest + (this.#isInside ? '' : this.#pending), 'latin1').toString('utf8');
  }

  /** @returns what has come of the bytes */
  push(chunk: Uint8Array): Buffer {
    this.#pending += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    const pieces: Buffer[] = [];
    while (this.#isInside ? this.#readInside(pieces) : this.#findOpening());
    return Buffer.concat(pieces);
  }

  #findOpening(): boolean {
    const found = this.#opening.exec(this.#pending);
    const upTo = found === null ? Math.max(0, this.#pending.length - KEPT_CHARS) : found.index + found[0].length;
    this.#rest = (this.#rest + this.#pending.slice(0, upTo)).slice(-REST_CHARS_MAX);
    this.#pending = this.#pending.slice(upTo);
    this.#isInside = found !== null;
    return this.#isInside;
  }

  /** @returns whether the member has ended here */
  #readInside(pieces: Buffer[]): boolean {
    const end = this.#pending.indexOf('"');
    const open = end < 0 ? /\\(?:u[0-9a-fA-F]{0,3})?$/.exec(this.#pending)?.index : undefined;
    const upTo = end < 0 ? (open ?? this.#pending.length) : end;
    const text = this.#pending.slice(0, upTo);
    const plain = text.includes('\\') ? text.replaceAll(ESCAPE, unescapeOne) : text;
    const base64 = this.#quads + plain;
    const whole = end < 0 ? base64.length - (base64.length % QUAD) : base64.length;
    pieces.push(Buffer.from(base64.slice(0, whole), 'base64'));
    this.#quads = base64.slice(whole);
    this.#pending = this.#pending.slice(upTo);
    this.#isInside = end < 0;
    return !this.#isInside;
  }
}

function unescapeOne(_escape: string, code: string | undefined, char: string | undefined): string {
  return code === undefined ? (char ?? '') : String.fromCharCode(Number.parseInt(code, 16));
}
