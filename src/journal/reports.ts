import type { DamagedBytes } from './frames.ts';
import type { RefusedRecord } from './batch.ts';
import type { Segment, SegmentProblem } from './segments.ts';

/** What a journal reports to its operator. None of these may throw. */
export interface JournalReports {
  /** Records begin to wait for the disk, or no longer do. */
  onDiskStuck(isStuck: boolean, error?: Error): void;
  /** Records begin to wait for the database, or no longer do. */
  onStoreStuck(isStuck: boolean, error?: unknown): void;
  /** So many records were stored. */
  onApplied(records: number): void;
  /** A record will not be stored: the last chance to keep it. */
  onLost(payload: string, reason: string): void;
  /** A part of a segment was copied to the folder of damaged parts, and skipped. */
  onDamaged(segment: Segment, damaged: DamagedBytes): void;
  /** A segment is left as it is. */
  onUnusable(segment: Segment, problem: SegmentProblem): void;
  /** A response did not wait for the database any longer. */
  onLate(): void;
  /** The file system has no locks that work: what a killed process leaves is stored by the operator alone. */
  onNoLocks(): void;
}

export function reportBatch(
  reports: Pick<JournalReports, 'onApplied' | 'onLost' | 'onDamaged'>,
  segment: Segment,
  batch: {
    readonly records: number;
    readonly refused: readonly RefusedRecord[];
    readonly damaged: readonly DamagedBytes[];
  },
): void {
  for (const { payload, message } of batch.refused) reports.onLost(payload, message);
  for (const damaged of batch.damaged) reports.onDamaged(segment, damaged);
  if (batch.records > 0) reports.onApplied(batch.records);
}
