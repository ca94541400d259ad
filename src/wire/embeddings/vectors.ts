import type { VectorEncoding } from '../../canonical/operation.ts';
import { parseJson } from '../../lib/json.ts';
import { endOfString, NotThatJson, valueAt } from '../../lib/json/walk-bytes.ts';

/** One vector as its upstream wrote it: the bytes of a JSON value. */
export interface Vector {
  readonly encoding: VectorEncoding;
  readonly dimensions: number;
  /** A JSON array of numbers, or base64 in quotes. */
  readonly bytes: Buffer;
}

const QUOTE = 0x22;
const [OPEN, CLOSE] = [0x5b, 0x5d];
const FLOAT_BYTES = 4;
const [BACKSLASH, EQUALS] = [0x5c, 0x3d];

/**
 * The vector that begins at `at`, unchanged, and where it ends. Each byte is looked at once: what is no number in it, null
 * and NaN among them, is a fault. @throws NotThatJson
 */
export function vectorAt(bytes: Buffer, at: number): { readonly vector: Vector; readonly end: number } {
  if (bytes[at] === QUOTE) return base64At(bytes, at);
  if (bytes[at] !== OPEN) throw new NotThatJson();
  const close = bytes.indexOf(CLOSE, at);
  if (close < 0) throw new NotThatJson();
  let commas = 0;
  let hasDigit = 0;
  let faults = 0;
  for (let index = at + 1; index < close; index++) {
    const kind = KIND_OF_BYTE[bytes[index] ?? 0] ?? FAULT;
    const comma = (kind >> 1) & 1;
    // A comma behind no number is a fault, too.
    faults |= (kind & FAULT) | (comma & ~hasDigit);
    commas += comma;
    hasDigit = (hasDigit & ~comma) | (kind & DIGIT);
  }
  if (faults !== 0 || hasDigit === 0) throw new NotThatJson();
  const end = close + 1;
  return { vector: { encoding: 'float', dimensions: commas + 1, bytes: bytes.subarray(at, end) }, end };
}

const [DIGIT, COMMA, FAULT] = [1, 2, 4];
/** What may stand in a list of numbers. Looked up without a branch: large answers have tens of millions of bytes. */
const KIND_OF_BYTE = Uint8Array.from({ length: 256 }, (_none, byte) => {
  const char = String.fromCharCode(byte);
  if (/\d/.test(char)) return DIGIT;
  if (char === ',') return COMMA;
  return /[-+.eE \n\r\t]/.test(char) ? 0 : FAULT;
});

function base64At(bytes: Buffer, at: number): ReturnType<typeof vectorAt> {
  const end = endOfString(bytes, at);
  const own = bytes.subarray(at, end);
  // Some writers escape the slash.
  const text = own.includes(BACKSLASH) ? unescape(bytes, at, end) : own;
  const floatBytes = decodedBytes(text);
  if (floatBytes === 0 || floatBytes % FLOAT_BYTES !== 0) throw new NotThatJson();
  return { vector: { encoding: 'base64', dimensions: floatBytes / FLOAT_BYTES, bytes: text }, end };
}

function unescape(bytes: Buffer, at: number, end: number): Buffer {
  return Buffer.from(`"${String(valueAt(bytes, at, end))}"`);
}

/** 0 for what base64 is made of. */
const FOREIGN = Uint8Array.from({ length: 256 }, (_none, byte) =>
  /[A-Za-z0-9+/]/.test(String.fromCharCode(byte)) ? 0 : 1,
);
const PADDING_CHARS = 2;
const QUAD = 4;

/**
 * The bytes that base64 in quotes stands for. All of its own are looked up in a table, without a branch: a regular expression
 * takes ten times as long, which was half of what a large answer cost. @throws NotThatJson for what is no base64
 */
function decodedBytes(quoted: Buffer): number {
  let to = quoted.length - 1;
  for (let padding = 0; padding < PADDING_CHARS && quoted[to - 1] === EQUALS; padding++) to--;
  let index = 1;
  let foreign = 0;
  for (; index + QUAD <= to; index += QUAD)
    foreign |=
      foreignAt(quoted, index) |
      foreignAt(quoted, index + 1) |
      foreignAt(quoted, index + 2) |
      foreignAt(quoted, index + 3);
  for (; index < to; index++) foreign |= foreignAt(quoted, index);
  if (foreign !== 0) throw new NotThatJson();
  return Math.floor(((to - 1) * 3) / 4);
}

function foreignAt(bytes: Buffer, index: number): number {
  return FOREIGN[bytes[index] ?? 0] ?? 1;
}

/** The same vector in the other encoding. Numbers of 64 bits become the nearest of 32. @throws NotThatJson */
export function convertVector(vector: Vector): Vector {
  return vector.encoding === 'float' ? toBase64(vector) : toFloat(vector);
}

function toBase64({ bytes, dimensions }: Vector): Vector {
  const numbers = valueAt(bytes, 0, bytes.length);
  if (!Array.isArray(numbers)) throw new NotThatJson();
  const view = Buffer.alloc(dimensions * FLOAT_BYTES);
  numbers.forEach((value: unknown, index) => {
    if (typeof value !== 'number' || !Number.isFinite(Math.fround(value))) throw new NotThatJson();
    view.writeFloatLE(value, index * FLOAT_BYTES);
  });
  return { encoding: 'base64', dimensions, bytes: Buffer.from(`"${view.toString('base64')}"`) };
}

function toFloat({ bytes, dimensions }: Vector): Vector {
  const view = Buffer.from(bytes.toString('latin1', 1, bytes.length - 1), 'base64');
  const texts: string[] = [];
  for (let at = 0; at < view.length; at += FLOAT_BYTES) texts.push(shortestText(view.readFloatLE(at)));
  return { encoding: 'float', dimensions, bytes: Buffer.from(`[${texts.join(',')}]`) };
}

/** Nine significant digits always read back to the same float32. */
const FLOAT32_DIGITS = 9;
const DIGITS_MIN = 6;

/** The shortest text that reads back to the same float32. @throws NotThatJson for NaN and infinity */
function shortestText(value: number): string {
  if (!Number.isFinite(value)) throw new NotThatJson();
  for (let digits = DIGITS_MIN; digits < FLOAT32_DIGITS; digits++) {
    const near = Number(value.toPrecision(digits));
    if (Math.fround(near) === value) return String(near);
  }
  return String(Number(value.toPrecision(FLOAT32_DIGITS)));
}

/** In all: what is longer is not kept. */
const KEPT_BYTES_MAX = 1_048_576;

/** Vectors as a text that gives the same bytes back; `undefined`: they are too large to be kept. */
export function serializeVectors(vectors: readonly Vector[]): string | undefined {
  const bytes = vectors.reduce((sum, vector) => sum + vector.bytes.length, 0);
  if (bytes > KEPT_BYTES_MAX) return undefined;
  return JSON.stringify(
    vectors.map(({ encoding, dimensions, bytes: written }) => [encoding, dimensions, written.toString('latin1')]),
  );
}

export function parseVectors(text: string): readonly Vector[] | undefined {
  const kept = parseJson(text);
  if (!Array.isArray(kept)) return undefined;
  const vectors = kept.flatMap((one): readonly Vector[] => {
    if (!Array.isArray(one)) return [];
    const [encoding, dimensions, written] = one;
    const isKnown = encoding === 'float' || encoding === 'base64';
    if (!isKnown || typeof dimensions !== 'number' || typeof written !== 'string') return [];
    return [{ encoding, dimensions, bytes: Buffer.from(written, 'latin1') }];
  });
  return vectors.length === kept.length ? vectors : undefined;
}
