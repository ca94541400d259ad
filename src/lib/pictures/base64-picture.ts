import { pictureSizeOf, type PictureSize } from './picture-size.ts';
import { pictureTypeOf, type PictureType } from './picture-type.ts';

/** What is known of a picture without drawing it. */
export interface PictureFacts {
  readonly type: PictureType;
  /** Absent: it is a drawing, which has no pixels. */
  readonly size?: PictureSize;
  readonly bytes: number;
}

/** Of base64: whole groups of four, so that each piece can be decoded by itself. */
const PIECE_CHARS = 1_048_576;
/** No usual header is longer, with the profile and the preview that may stand in it. */
const HEAD_CHARS = 1_048_576;
/** Where it is longer, the size stands within so many. */
const LONG_HEAD_CHARS = 16_777_216;
const PADDING = 0x3d;

/**
 * Checks that a text is base64 of a picture, piece by piece: nothing of it is kept. `undefined`: it is none, or does not say
 * how large it is.
 * @param next is waited for between two pieces
 */
export async function checkBase64Picture(
  text: Buffer,
  next: () => Promise<void> | undefined = () => undefined,
): Promise<PictureFacts | undefined> {
  const chars = withoutPadding(text);
  // A single sign more is no byte.
  if (chars === 0 || chars % 4 === 1) return undefined;
  const head = Buffer.from(text.toString('latin1', 0, Math.min(chars, HEAD_CHARS)), 'base64');
  const type = pictureTypeOf(head);
  if (type === undefined) return undefined;
  for (let from = 0; from < chars; from += PIECE_CHARS) {
    const piece = text.toString('latin1', from, Math.min(from + PIECE_CHARS, chars));
    // The decoder leaves out what is no base64.
    if (Buffer.from(piece, 'base64').length !== Math.floor((piece.length * 3) / 4)) return undefined;
    if (chars > PIECE_CHARS) await next();
  }
  const bytes = Math.floor((chars * 3) / 4);
  // It has no pixels.
  if (type === 'svg') return { type, bytes };
  const size = pictureSizeOf(head, type) ?? (chars > HEAD_CHARS ? pictureSizeOf(longHead(text), type) : undefined);
  return size && { type, bytes, size };
}

function longHead(text: Buffer): Buffer {
  return Buffer.from(text.toString('latin1', 0, LONG_HEAD_CHARS), 'base64');
}

function withoutPadding(text: Buffer): number {
  let end = text.length;
  while (end > 0 && text.length - end < 2 && text[end - 1] === PADDING) end--;
  return end;
}

/** Bytes as base64, in bytes: a string of it would exist a second time. */
export function toBase64(bytes: Uint8Array): Buffer {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out = Buffer.allocUnsafe(Math.ceil(source.length / 3) * 4);
  const step = (PIECE_CHARS / 4) * 3;
  let at = 0;
  for (let from = 0; from < source.length; from += step)
    at += out.write(source.toString('base64', from, Math.min(from + step, source.length)), at, 'latin1');
  return out;
}
