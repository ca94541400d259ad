import { open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../lib/json.ts';
import { frameBytesMax, readFrames, writeFrame } from './frames.ts';

/**
 * A journal is a stream of frames in segments: files of one size, whose room is written with zeros before it is used. A
 * position is a number of bytes from the start of the stream, unused ends of segments included.
 */
export const SEGMENT_BYTES = 4_194_304;
/** What this version writes and reads. A segment of a later format is left as it is. */
export const SEGMENT_FORMAT = 1;
const ZEROS = Buffer.alloc(262_144);
const ONLY_OWNER = 0o600;
/** The first frame has at most so many bytes. */
const HEAD_BYTES_MAX = 65_536;

const SEGMENT_NAME = /^(\d{15}-[A-Za-z0-9]{12})\.(\d{15})\.segment$/;

/** The first frame of a segment. */
export interface SegmentHead {
  readonly format: number;
  /** The database that the records are for. */
  readonly database: string;
  readonly stream: string;
  /** The position of the segment's first byte. */
  readonly base: number;
  /** What the records' values are, in their order. */
  readonly columns: readonly string[];
}

/** A segment on the disk. */
export interface Segment {
  readonly path: string;
  readonly stream: string;
  readonly base: number;
}

function segmentPath(folder: string, stream: string, base: number): string {
  return join(folder, `${stream}.${String(base).padStart(15, '0')}.segment`);
}

/** Lists the segments of a folder, those of one stream together and in their order. */
export async function listSegments(folder: string): Promise<readonly Segment[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  const segments = names.flatMap((name): readonly Segment[] => {
    const [, stream, base] = SEGMENT_NAME.exec(name) ?? [];
    return stream === undefined ? [] : [{ path: join(folder, name), stream, base: Number(base) }];
  });
  return segments.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

/** A segment with room, open for writing. */
export interface OpenSegment extends Segment {
  readonly handle: FileHandle;
  /** Where its first record begins, as an offset in the file. */
  readonly start: number;
}

/** Makes a segment and writes all of its room. @throws Error of the system, and leaves no file */
export async function makeSegment(folder: string, head: SegmentHead): Promise<OpenSegment> {
  const path = segmentPath(folder, head.stream, head.base);
  const handle = await open(path, 'wx', ONLY_OWNER);
  try {
    const text = JSON.stringify(head);
    const bytes = Buffer.alloc(frameBytesMax(text));
    const start = writeFrame(bytes, 0, text);
    await handle.write(bytes, 0, start, 0);
    for (let at = start; at < SEGMENT_BYTES; at += ZEROS.length)
      await handle.write(ZEROS, 0, Math.min(ZEROS.length, SEGMENT_BYTES - at), at);
    return { path, stream: head.stream, base: head.base, handle, start };
  } catch (error) {
    await handle.close();
    await rm(path, { force: true });
    throw error;
  }
}

/** The head of a segment and the offset of its first record; `undefined`: it has none that can be read. */
export function readHead(bytes: Buffer): { readonly head: SegmentHead; readonly start: number } | undefined {
  const { frames, end } = readFrames(bytes.subarray(0, HEAD_BYTES_MAX), 0, 1);
  const [frame] = frames;
  if (frame?.offset !== 0) return undefined;
  const head: unknown = parseJson(frame.payload);
  return isHead(head) ? { head, start: end } : undefined;
}

function isHead(value: unknown): value is SegmentHead {
  if (!isJsonObject(value)) return false;
  const { format, database, stream, base, columns } = value;
  return (
    typeof format === 'number' &&
    typeof database === 'string' &&
    typeof stream === 'string' &&
    typeof base === 'number' &&
    Array.isArray(columns) &&
    columns.every((column) => typeof column === 'string')
  );
}

/** The position behind a segment: that of the next one. */
export function endOf({ base }: Pick<Segment, 'base'>): number {
  return base + SEGMENT_BYTES;
}

/** Why the records of a segment are not applied. */
export type SegmentProblem = 'unreadable' | 'newer' | 'other-database';
/** Its process ended before it wrote the head, or the machine before the head was on the disk: it has no record. */
export type EmptySegment = 'empty';

/**
 * Reads the head of a segment on the disk.
 * @param database that the records must be for; absent: any
 * @throws Error of the system
 */
export async function openHead(
  { path }: Pick<Segment, 'path'>,
  database?: string,
): Promise<{ readonly head: SegmentHead; readonly start: number } | SegmentProblem | EmptySegment> {
  const handle = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(HEAD_BYTES_MAX);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    const read = readHead(bytes.subarray(0, bytesRead));
    if (read === undefined) return bytes.every((byte) => byte === 0) ? 'empty' : 'unreadable';
    if (read.head.format > SEGMENT_FORMAT) return 'newer';
    return read.head.database === (database ?? read.head.database) ? read : 'other-database';
  } finally {
    await handle.close();
  }
}
