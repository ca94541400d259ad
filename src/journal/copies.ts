import { copyFile, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { applySegment } from './apply-segment.ts';
import type { JournalReports } from './reports.ts';
import { listSegments, openHead, type Segment } from './segments.ts';
import type { JournalStore } from './store.ts';

/**
 * Copies segments to a new folder, for a backup of the database that lacks their records.
 * @throws Error of the system, also where the folder exists
 */
export async function copySegments(segments: readonly Segment[], folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  for (const { path } of segments)
    await copyFile(path, join(folder, basename(path))).catch((error: unknown) => {
      // All of it was stored meanwhile, and so is in the backup.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    });
}

/**
 * Stores what such a folder holds in the database that the backup was restored to, which has another id by then. Records
 * that it has already change nothing.
 * @throws Error when the store takes nothing
 */
export async function applyCopies(
  folder: string,
  store: Pick<JournalStore, 'apply'>,
  reports: Pick<JournalReports, 'onApplied' | 'onLost' | 'onDamaged' | 'onUnusable'>,
): Promise<void> {
  for (const segment of await listSegments(folder)) {
    const opened = await openHead(segment);
    if (opened === 'empty') continue;
    if (typeof opened === 'string') reports.onUnusable(segment, opened);
    else {
      const { head, start: from } = opened;
      // All of them are late: their hours are summed up again.
      await applySegment(store, reports, { segment, columns: head.columns, from, lateBeforeMs: Infinity });
    }
  }
}
