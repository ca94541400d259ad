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
const COMMA = 0x2c;
const [OPEN, CLOSE] = [0x5b, 0x5d];
const FLOAT_BYTES = 4;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The vector that begins at `at`, unchanged, and where it ends. Each byte is looked at once: what is no number in it, null
 * and NaN among them, is a fault. @throws NotThatJson
 */
export function vectorAt(bytes: Buffer, at: number): { readonly vector: Vector; readonly end: number } {
  if (bytes[at] === QUOTE) return base64At(bytes, at);
  if (bytes[at] !== OPEN) throw new NotThatJson();
  let dimensions = 1;
  let index = at + 1;
  let hasDigit = false;
  for (let byte = bytes[index]; byte !== CLOSE; byte = bytes[++index]) {
    if (byte === COMMA) {
      if (!hasDigit) throw new NotThatJson();
      dimensions++;
      hasDigit = false;
    } else if (byte !== undefined && byte >= 0x30 && byte <= 0x39) hasDigit = true;
    else if (!isBesideDigits(byte)) throw new NotThatJson();
  }
  if (!hasDigit) throw new NotThatJson();
  const end = index + 1;
  return { vector: { encoding: 'float', dimensions, bytes: bytes.subarray(at, end) }, end };
}

/** `+ - . E e` and spaces; `undefined`, the end of the bytes, is none. */
function isBesideDigits(byte: number | undefined): boolean {
  return (
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x65 ||
    byte === 0x45 ||
    byte === 0x2b ||
    byte === 0x20 ||
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x09
  );
}

function base64At(bytes: Buffer, at: number): ReturnType<typeof vectorAt> {
  const end = endOfString(bytes, at);
  // Some writers escape the slash.
  const isEscaped = bytes.subarray(at, end).includes(0x5c);
  const text = isEscaped ? valueAt(bytes, at, end) : bytes.toString('latin1', at + 1, end - 1);
  if (typeof text !== 'string' || !BASE64.test(text)) throw new NotThatJson();
  const floatBytes = Buffer.byteLength(text, 'base64');
  if (floatBytes === 0 || floatBytes % FLOAT_BYTES !== 0) throw new NotThatJson();
  const own = isEscaped ? Buffer.from(`"${text}"`) : bytes.subarray(at, end);
  return { vector: { encoding: 'base64', dimensions: floatBytes / FLOAT_BYTES, bytes: own }, end };
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
