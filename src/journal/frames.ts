import { crc32 } from 'node:zlib';

/** Before each payload: magic, length of the payload in bytes, CRC-32 of both; 4 bytes each, little-endian. */
export const FRAME_HEAD_BYTES = 12;
/** A longer payload is no record. */
export const PAYLOAD_BYTES_MAX = 1_048_576;
const MAGIC = Buffer.from('GJF1');
const MAGIC_NUMBER = MAGIC.readUInt32LE();
/** Ends each payload: a frame that lacks it was cut off while it was written, one that has it was damaged later. */
const END = 0x0a;

export interface Frame {
  /** Where it begins, in the bytes that were read. */
  readonly offset: number;
  readonly payload: string;
}

/** Bytes that are no frame, with frames behind them or an end of their own. */
export interface DamagedBytes {
  readonly offset: number;
  readonly length: number;
}

export interface FramesRead {
  readonly frames: readonly Frame[];
  readonly damaged: readonly DamagedBytes[];
  /** Where the last of both ends. */
  readonly end: number;
  /** Bytes are left that a longer read may show to be a frame, or the end of damaged bytes. */
  readonly isCutOff: boolean;
}

/** The largest number of bytes that the frame of a payload takes. */
export function frameBytesMax(payload: string): number {
  return FRAME_HEAD_BYTES + payload.length * 3 + 1;
}

/** Writes a payload, one line of text, as a frame. @returns where the frame ends */
export function writeFrame(target: Buffer, offset: number, payload: string): number {
  const start = offset + FRAME_HEAD_BYTES;
  let end = start + target.write(payload, start);
  target[end++] = END;
  target.writeUInt32LE(MAGIC_NUMBER, offset);
  target.writeUInt32LE(end - start, offset + 4);
  target.writeUInt32LE(checksum(target, start, end), offset + 8);
  return end;
}

/**
 * Reads the frames of a part of a segment. Zeros are room that is not written yet; bytes that are neither are skipped up to
 * the next frame.
 */
export function readFrames(bytes: Buffer, from = 0, framesMax = Infinity): FramesRead {
  const frames: Frame[] = [];
  const damaged: DamagedBytes[] = [];
  let at = from;
  while (frames.length < framesMax && at < bytes.length) {
    const end = endOfFrame(bytes, at);
    if (end !== undefined) {
      frames.push({ offset: at, payload: bytes.toString('utf8', at + FRAME_HEAD_BYTES, end - 1) });
      at = end;
      continue;
    }
    const next = findDamageEnd(bytes, at);
    if (next === undefined) return { frames, damaged, end: at, isCutOff: !isZero(bytes, at) };
    damaged.push({ offset: at, length: next - at });
    at = next;
  }
  return { frames, damaged, end: at, isCutOff: false };
}

/** `undefined`: no frame begins here, or it is not whole. */
function endOfFrame(bytes: Buffer, at: number): number | undefined {
  const end = claimedEnd(bytes, at);
  if (end === undefined || end > bytes.length) return undefined;
  return checksum(bytes, at + FRAME_HEAD_BYTES, end) === bytes.readUInt32LE(at + 8) ? end : undefined;
}

/** Where the frame ends that begins here, by its head. */
function claimedEnd(bytes: Buffer, at: number): number | undefined {
  const start = at + FRAME_HEAD_BYTES;
  if (start > bytes.length || bytes.readUInt32LE(at) !== MAGIC_NUMBER) return undefined;
  const length = bytes.readUInt32LE(at + 4);
  return length > 0 && length <= PAYLOAD_BYTES_MAX ? start + length : undefined;
}

/** Where the next frame begins, or else where the damaged frame ends, if it was whole once. */
function findDamageEnd(bytes: Buffer, at: number): number | undefined {
  for (let next = bytes.indexOf(MAGIC, at + 1); next !== -1; next = bytes.indexOf(MAGIC, next + 1))
    if (endOfFrame(bytes, next) !== undefined) return next;
  const end = claimedEnd(bytes, at);
  return end !== undefined && end <= bytes.length && bytes[end - 1] === END ? end : undefined;
}

/** Of the payload and, as the start value, of its length. */
function checksum(bytes: Buffer, start: number, end: number): number {
  return crc32(bytes.subarray(start, end), end - start);
}

function isZero(bytes: Buffer, from: number): boolean {
  for (let at = from; at < bytes.length; at++) if (bytes[at] !== 0) return false;
  return true;
}
