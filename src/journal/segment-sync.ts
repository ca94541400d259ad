import type { Clock } from '../lib/clock.ts';
import type { Disk } from './disk.ts';
import type { OpenSegment } from './segments.ts';

/** What is written is on the disk after this, where no response waits for it. */
const SYNC_EVERY_MS = 50;

export interface SegmentSyncDeps {
  readonly disk: Pick<Disk, 'sync'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Whether responses wait for the disk, so that each sync begins at once. */
  readonly isAwaited: boolean;
  readonly onFailed: (error: Error) => void;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Syncs segments to the disk, one at a time; what is written meanwhile goes with the next sync. */
export class SegmentSync {
  readonly #deps: SegmentSyncDeps;
  /** With what was written since the last sync, oldest first. */
  #dirty = new Set<OpenSegment>();
  /** Of these, those that no more is written to: they are closed once they are synced. */
  #closing = new Set<OpenSegment>();
  #waiters: Waiter[] = [];
  #running: Promise<void> | undefined;
  #beganMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: SegmentSyncDeps) {
    this.#deps = deps;
  }

  /** How long the sync under way has taken, ms; 0: there is none. */
  get underWayMs(): number {
    return this.#beganMs === undefined ? 0 : this.#deps.clock.monotonicMs() - this.#beganMs;
  }

  wrote(segment: OpenSegment): void {
    this.#dirty.add(segment);
    this.#plan();
  }

  /** Settles when all that was written before is on the disk. @throws Error of the system */
  synced(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.#plan();
    });
  }

  /** The segment is synced, and then closed. */
  closeSegment(segment: OpenSegment): void {
    this.#closing.add(segment);
    this.wrote(segment);
  }

  /** Settles when everything is synced and closed. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    while (this.#running !== undefined || this.#dirty.size > 0) await (this.#running ?? this.#begin());
  }

  #plan(): void {
    if (this.#running !== undefined || this.#timer !== undefined) return;
    if (this.#deps.isAwaited || this.#waiters.length > 0) return void this.#begin();
    this.#timer = setTimeout(() => void this.#begin(), SYNC_EVERY_MS).unref();
  }

  #begin(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [dirty, closing, waiters] = [this.#dirty, this.#closing, this.#waiters];
    this.#dirty = new Set();
    // One that fills up during this sync has more to sync, and stays open for that.
    this.#closing = new Set();
    this.#waiters = [];
    this.#running = this.#sync(dirty, waiters, closing).finally(() => {
      this.#running = undefined;
      if (this.#dirty.size > 0 || this.#waiters.length > 0) this.#plan();
    });
    return this.#running;
  }

  async #sync(
    dirty: ReadonlySet<OpenSegment>,
    waiters: readonly Waiter[],
    closing: ReadonlySet<OpenSegment>,
  ): Promise<void> {
    this.#beganMs = this.#deps.clock.monotonicMs();
    try {
      for (const segment of dirty) await this.#deps.disk.sync(segment.handle.fd);
      for (const { resolve } of waiters) resolve();
    } catch (cause) {
      // The kernel may have dropped what it could not write: a later sync that succeeds says nothing of it.
      const error = cause instanceof Error ? cause : new Error(String(cause));
      for (const { reject } of waiters) reject(error);
      this.#deps.onFailed(error);
    } finally {
      this.#beganMs = undefined;
      for (const { handle } of closing) await handle.close().catch(this.#deps.onFailed);
    }
  }
}
