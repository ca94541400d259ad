import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { applySegment } from './apply-segment.ts';
import { removeLock, removeStrayLocks, takeAdoption, type TakeLock } from './locks.ts';
import type { JournalReports } from './reports.ts';
import { endOf, listSegments, openHead, type Segment } from './segments.ts';
import type { JournalStore } from './store.ts';

export interface OrphansDeps {
  readonly folder: string;
  readonly store: JournalStore;
  /** Absent: the file system has no locks, and so no process is known to be gone. */
  readonly takeLock: TakeLock | undefined;
  /** Stores what versions before the journal have left. @throws Error when the store takes nothing */
  readonly applyEarlier: () => Promise<void>;
  readonly lateBeforeMs: () => number;
  readonly reports: Pick<JournalReports, 'onApplied' | 'onLost' | 'onDamaged' | 'onUnusable'>;
  /** All of a stream is stored. Never rejects. */
  readonly onFinished: (stream: string) => Promise<void>;
  /** The stream of this process. */
  readonly own: string;
}

/** Journals in the folder whose processes are gone. */
export class Orphans {
  readonly #deps: OrphansDeps;
  /** Segments that were reported. */
  readonly #unusable = new Set<string>();

  constructor(deps: OrphansDeps) {
    this.#deps = deps;
  }

  /**
   * Applies each of them and removes its files.
   * @returns `false`: another process does that now
   * @throws Error when the store takes nothing, or the folder cannot be read
   */
  async adopt(): Promise<boolean> {
    const { folder, takeLock, applyEarlier } = this.#deps;
    const adoption = takeLock && takeAdoption(folder, takeLock);
    if (adoption === 'held') return false;
    try {
      await applyEarlier();
      if (takeLock !== undefined) await this.#adoptAll(takeLock);
    } finally {
      if (typeof adoption === 'object') adoption.release();
    }
    return true;
  }

  async #adoptAll(takeLock: TakeLock): Promise<void> {
    const { folder, own } = this.#deps;
    const streams = new Set((await listSegments(folder)).map(({ stream }) => stream));
    let failure: unknown;
    for (const stream of streams)
      if (stream !== own)
        await this.#adoptStream(stream, takeLock).catch((error: unknown) => {
          // One that cannot be read keeps no other from being applied.
          failure ??= error;
        });
    if (failure !== undefined) throw failure;
    await removeStrayLocks(folder, takeLock, streams.union(new Set([own])));
  }

  async #adoptStream(stream: string, takeLock: TakeLock): Promise<void> {
    const { folder, store } = this.#deps;
    const lock = takeLock(join(folder, stream));
    if (lock === 'held' || lock === 'unknown') return;
    try {
      // Listed again: its process may have stored all of it before its lock was free.
      const segments = (await listSegments(folder)).filter((segment) => segment.stream === stream);
      let areAllApplied = true;
      for (const segment of segments) areAllApplied = (await this.#applySegment(segment)) && areAllApplied;
      if (!areAllApplied) return;
      // Before its checkpoint is gone: a position without one would look as if nothing was stored.
      await this.#deps.onFinished(stream);
      await store.dropCheckpoint(stream);
      removeLock(folder, stream);
    } finally {
      lock.release();
    }
  }

  /** @returns whether all of it was applied, and its file is removed */
  async #applySegment(segment: Segment): Promise<boolean> {
    const { store, reports, lateBeforeMs } = this.#deps;
    const opened = await openHead(segment, store.databaseId);
    if (opened === 'empty') {
      await rm(segment.path, { force: true });
      return true;
    }
    if (typeof opened === 'string') {
      if (!this.#unusable.has(segment.path)) reports.onUnusable(segment, opened);
      this.#unusable.add(segment.path);
      return false;
    }
    const checkpoint = (await store.readCheckpoints([segment.stream])).get(segment.stream) ?? 0;
    if (checkpoint < endOf(segment))
      await applySegment(store, reports, {
        segment,
        columns: opened.head.columns,
        from: Math.max(opened.start, checkpoint - segment.base),
        lateBeforeMs: lateBeforeMs(),
        checkpoint: { stream: segment.stream, base: segment.base },
      });
    await rm(segment.path, { force: true });
    return true;
  }
}
