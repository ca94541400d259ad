import type { PictureType } from './picture-type.ts';

/** In pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The size that the header of a picture states; `undefined`: it states none, or not within these bytes. */
export function pictureSizeOf(head: Uint8Array, type: PictureType): PictureSize | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.byteLength);
  const size = sizeOf(bytes, type);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function sizeOf(bytes: Buffer, type: PictureType): PictureSize | undefined {
  switch (type) {
    case 'png':
      return sizeOfPng(bytes);
    case 'jpeg':
      return sizeOfJpeg(bytes);
    case 'webp':
      return sizeOfWebp(bytes);
    case 'gif':
      return bytes.length < 10 ? undefined : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    case 'avif':
      return sizeOfAvif(bytes);
    case 'svg':
    default:
      // It has no pixels.
      return undefined;
  }
}

/** The header is the first chunk. @source W3C PNG, 11.2.2 */
function sizeOfPng(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

const SEGMENTS_MAX = 10_000;

/** Walks over the segments to the first that begins a frame. @source ITU-T T.81, B.1 and B.2.2 */
function sizeOfJpeg(bytes: Buffer): PictureSize | undefined {
  let at = 2;
  for (let segment = 0; segment < SEGMENTS_MAX && at + 9 <= bytes.length; segment++) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    // Fill bytes may stand before a marker, and some markers have nothing behind them.
    if (marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** @source WebP container specification; RFC 6386, 9.1; WebP lossless bitstream specification, 3 */
function sizeOfWebp(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 30) return undefined;
  const chunk = bytes.toString('latin1', 12, 16);
  if (chunk === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (chunk === 'VP8 ') {
    const isStart = bytes[23] === 0x9d && bytes[24] === 0x01 && bytes[25] === 0x2a;
    return isStart ? { width: bytes.readUInt16LE(26) & 0x3f_ff, height: bytes.readUInt16LE(28) & 0x3f_ff } : undefined;
  }
  if (chunk !== 'VP8L' || bytes[20] !== 0x2f) return undefined;
  const packed = bytes.readUInt32LE(21);
  return { width: (packed & 0x3f_ff) + 1, height: ((packed >> 14) & 0x3f_ff) + 1 };
}

const ISPE = Buffer.from('ispe', 'latin1');

/** The largest of the extents that it lists: those of tiles and of the small preview are among them. @source ISO/IEC 23008-12, 6.5.3 */
function sizeOfAvif(bytes: Buffer): PictureSize | undefined {
  let best: PictureSize | undefined;
  for (let at = bytes.indexOf(ISPE); at >= 0 && at + 16 <= bytes.length; at = bytes.indexOf(ISPE, at + 4)) {
    const size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) };
    if (best === undefined || size.width * size.height > best.width * best.height) best = size;
  }
  return best;
}
