import type { AudioType } from '../lib/audio/audio-type.ts';
import type { SpooledFile } from '../lib/files/spool.ts';

/** A sound that a request brought. */
export interface AudioFile {
  readonly file: SpooledFile;
  readonly type: AudioType;
  /** As its own headers say: a bound for what is reserved, and never the bill alone. Absent: they do not say. */
  readonly durationMs?: number;
}

/** Bytes of a second of sound where nothing says how many there are: a telephone's. */
const BYTES_PER_SECOND_UNKNOWN = 1_000;
const MS_PER_SECOND = 1_000;

/** How long it may be. */
export function longestMs({ file, durationMs }: AudioFile): number {
  return durationMs ?? Math.ceil((file.bytes / BYTES_PER_SECOND_UNKNOWN) * MS_PER_SECOND);
}
