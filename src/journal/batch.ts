import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readFrames, type DamagedBytes, type Frame, type FramesRead } from './frames.ts';

/** A part of a journal that is stored in one transaction. Sent to the thread of the database as it is. */
export interface JournalBatch {
  readonly source: BatchSource;
  /** What the values of the records are, in their order. */
  readonly columns: readonly string[];
  /** Records of an earlier time may be of hours that were summed up without them, Unix ms. */
  readonly lateBeforeMs: number;
  /** Stored with the records: how far the journal is stored then. Absent: the records are of no journal. */
  readonly checkpoint?: BatchCheckpoint;
  /** The end of a job, whose charge the records are: they are stored with it, and only where it has not ended before. */
  readonly jobEnd?: JobEnd;
}

/** What the row of a job holds once it has ended. */
export interface JobEnd {
  readonly id: string;
  /** Its columns that change, by name. */
  readonly columns: Readonly<Record<string, string | number | null>>;
}

export type BatchSource =
  | {
      readonly path: string;
      /** Offsets in the segment. */
      readonly from: number;
      readonly to: number;
      /** All of it was written: what is no frame at the end is damaged. Else the writer may have been cut off there. */
      readonly isWhole: boolean;
    }
  | { readonly frames: Uint8Array };

export interface BatchCheckpoint {
  readonly stream: string;
  /** The position of the segment's first byte. */
  readonly base: number;
}

/** What became of a batch. */
export interface AppliedBatch {
  /** The offset behind the last record that was read; where it is that of the start, there is none. */
  readonly end: number;
  readonly records: number;
  /** Records that the database refuses for good; the others are stored. */
  readonly refused: readonly RefusedRecord[];
  readonly damaged: readonly DamagedBytes[];
  /** Whether the job ended with this batch; absent: there was none. `false`: it had ended, and nothing was stored. */
  readonly isJobEnded?: boolean;
}

export interface RefusedRecord {
  readonly payload: string;
  readonly message: string;
}

/**
 * Stores a batch and its checkpoint in one transaction. A generation that is stored already changes nothing, so a batch may
 * be sent again when the answer to the first sending was lost.
 * @throws Error when nothing of it was stored
 */
export type ApplyBatch = (batch: JournalBatch) => Promise<AppliedBatch>;

const WINDOW_BYTES = 1_048_576;
/** A folder beside the segments. */
const DAMAGED_FOLDER = 'damaged';

/**
 * Reads the records of a batch. Bytes that are damaged are copied to a file of their own first, so that nothing is skipped
 * that is not kept.
 * @param recordsMax further records are left for the next batch
 * @throws Error of the system
 */
export function readBatch({ source }: Pick<JournalBatch, 'source'>, recordsMax: number): FramesRead {
  if ('frames' in source) return readFrames(Buffer.from(source.frames));
  const { path, from, to, isWhole } = source;
  const descriptor = openSync(path, 'r');
  try {
    const end = Math.min(to, fstatSync(descriptor).size);
    let window = Math.min(end, from + WINDOW_BYTES);
    let read = readWindow(descriptor, from, window, recordsMax);
    // A frame, or damaged bytes, that do not end in the window.
    if (read.end === from && window < end) {
      window = end;
      read = readWindow(descriptor, from, window, recordsMax);
    }
    // Also zeros: the disk has lost what was written there.
    if (isWhole && window === end && read.frames.length < recordsMax && read.end < to) read = withDamagedEnd(read, to);
    for (const damaged of read.damaged) keepDamaged(descriptor, path, damaged);
    return read;
  } finally {
    closeSync(descriptor);
  }
}

function readWindow(descriptor: number, from: number, to: number, recordsMax: number): FramesRead {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from));
  const length = readSync(descriptor, bytes, 0, bytes.length, from);
  const { frames, damaged, end, isCutOff } = readFrames(bytes.subarray(0, length), 0, recordsMax);
  return {
    frames: frames.map((frame): Frame => ({ offset: frame.offset + from, payload: frame.payload })),
    damaged: damaged.map((one) => ({ offset: one.offset + from, length: one.length })),
    end: end + from,
    isCutOff,
  };
}

/** The files of damaged parts that were set aside, with their paths. */
export async function listDamaged(folder: string): Promise<readonly string[]> {
  const names = await readdir(join(folder, DAMAGED_FOLDER)).catch(() => []);
  return names.map((name) => join(folder, DAMAGED_FOLDER, name));
}

function withDamagedEnd({ frames, damaged, end: offset }: FramesRead, end: number): FramesRead {
  return { frames, damaged: [...damaged, { offset, length: end - offset }], end, isCutOff: false };
}

function keepDamaged(descriptor: number, path: string, { offset, length }: DamagedBytes): void {
  const folder = join(dirname(path), DAMAGED_FOLDER);
  const file = join(folder, `${basename(path)}.${offset}`);
  if (existsSync(file)) return;
  const bytes = Buffer.allocUnsafe(length);
  const found = readSync(descriptor, bytes, 0, length, offset);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(file, bytes.subarray(0, found), { mode: 0o600, flush: true });
}
