import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FRAME_HEAD_BYTES, readFrames } from './frames.ts';
import { takeAdoption, type TakeLock } from './locks.ts';
import {
  listSegments,
  openHead,
  SEGMENT_BYTES,
  type EmptySegment,
  type Segment,
  type SegmentProblem,
} from './segments.ts';
import type { JournalStore } from './store.ts';

/** A journal in the folder, as an operator sees it. */
export interface InspectedJournal {
  readonly stream: string;
  /** `unknown`: the file system has no locks. */
  readonly owner: 'running' | 'gone' | 'unknown';
  readonly segments: readonly Segment[];
  /** Why a segment cannot be applied. */
  readonly problem: SegmentProblem | undefined;
  /** Behind the last record that is not stored; 0: all are. */
  readonly position: number;
  readonly recordsLeft: number;
}

export interface InspectDeps {
  readonly folder: string;
  readonly store: Pick<JournalStore, 'databaseId' | 'readCheckpoints'>;
  readonly takeLock: TakeLock;
}

/** Lists the journals of a folder and applies nothing. @throws Error of the system */
export async function inspectJournals({ folder, store, takeLock }: InspectDeps): Promise<readonly InspectedJournal[]> {
  const segments = await listSegments(folder);
  const streams = [...new Set(segments.map(({ stream }) => stream))];
  if (streams.length === 0) return [];
  const stored = await store.readCheckpoints(streams);
  const journals: InspectedJournal[] = [];
  for (const stream of streams) {
    const own = segments.filter((segment) => segment.stream === stream);
    const counts = await Promise.all(
      own.map((segment) => inspectSegment(segment, store.databaseId, stored.get(stream))),
    );
    journals.push({
      stream,
      owner: ownerOf(takeLock, folder, stream),
      segments: own,
      problem: counts.find(({ problem }) => problem !== undefined)?.problem,
      position: Math.max(...counts.map(({ position }) => position)),
      recordsLeft: counts.reduce((sum, { recordsLeft }) => sum + recordsLeft, 0),
    });
  }
  return journals;
}

/** The records of a segment, and whether each is stored. @throws Error of the system */
export async function readRecords(
  segment: Segment,
  databaseId: string,
): Promise<
  { readonly columns: readonly string[]; readonly payloads: readonly string[] } | SegmentProblem | EmptySegment
> {
  const opened = await openHead(segment, databaseId);
  if (typeof opened === 'string') return opened;
  const { frames } = readFrames(await readFile(segment.path), opened.start);
  return { columns: opened.head.columns, payloads: frames.map(({ payload }) => payload) };
}

async function inspectSegment(segment: Segment, databaseId: string, stored = 0) {
  const opened = await openHead(segment, databaseId).catch(unlessGone);
  if (opened === 'empty') return { problem: undefined, position: 0, recordsLeft: 0 };
  if (typeof opened === 'string') return { problem: opened, position: 0, recordsLeft: 0 };
  const from = Math.max(opened.start, Math.min(stored - segment.base, SEGMENT_BYTES));
  const { frames } = readFrames(await readFrom(segment.path, from).catch(() => Buffer.alloc(0)));
  const last = frames.at(-1);
  // Behind the segment that is written to there is one that is not yet.
  if (last === undefined) return { problem: undefined, position: 0, recordsLeft: 0 };
  const end = last.offset + FRAME_HEAD_BYTES + Buffer.byteLength(last.payload) + 1;
  return { problem: undefined, position: segment.base + from + end, recordsLeft: frames.length };
}

/** A gateway removes a segment as soon as it is stored. */
function unlessGone(error: unknown): EmptySegment {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'empty';
  throw error;
}

async function readFrom(path: string, from: number): Promise<Buffer> {
  const handle = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(SEGMENT_BYTES - from);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    return bytes.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function ownerOf(takeLock: TakeLock, folder: string, stream: string): InspectedJournal['owner'] {
  // A gateway that looks for what is left meanwhile must not take this for the lock of an owner.
  const adoption = takeAdoption(folder, takeLock);
  const lock = takeLock(join(folder, stream));
  if (typeof lock !== 'string') lock.release();
  if (typeof adoption !== 'string') adoption.release();
  if (lock === 'held') return 'running';
  return lock === 'unknown' ? 'unknown' : 'gone';
}
