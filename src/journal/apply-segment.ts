import type { BatchCheckpoint } from './batch.ts';
import { reportBatch, type JournalReports } from './reports.ts';
import { SEGMENT_BYTES, type Segment } from './segments.ts';
import type { JournalStore } from './store.ts';

export interface SegmentToApply {
  readonly segment: Segment;
  /** What the values of its records are, in their order. */
  readonly columns: readonly string[];
  /** The offset to begin with. */
  readonly from: number;
  /** Records of an earlier time are late, Unix ms. */
  readonly lateBeforeMs: number;
  /** Absent: the segment is a copy. */
  readonly checkpoint?: BatchCheckpoint;
}

/** Stores the records of a segment that nothing writes to. @throws Error when the store takes nothing */
export async function applySegment(
  store: Pick<JournalStore, 'apply'>,
  reports: Pick<JournalReports, 'onApplied' | 'onLost' | 'onDamaged'>,
  { segment, from: start, ...rest }: SegmentToApply,
): Promise<void> {
  for (let from = start; from < SEGMENT_BYTES;) {
    const source = { path: segment.path, from, to: SEGMENT_BYTES, isWhole: false };
    const batch = await store.apply({ source, ...rest });
    reportBatch(reports, segment, batch);
    if (batch.end === from) return;
    from = batch.end;
  }
}
