import { rm } from 'node:fs/promises';
import { retryDelayMs } from './retry-delay.ts';
import { reportBatch, type JournalReports } from './reports.ts';
import type { Segment } from './segments.ts';
import type { JournalStore } from './store.ts';

export interface ApplyLoopDeps {
  readonly store: Pick<JournalStore, 'apply' | 'columns'>;
  /** The position up to which records are written. */
  readonly written: () => number;
  /** Records of an earlier time are late, Unix ms. */
  readonly lateBeforeMs: () => number;
  readonly monotonicMs: () => number;
  readonly reports: Pick<JournalReports, 'onApplied' | 'onLost' | 'onDamaged' | 'onStoreStuck'>;
  /** The file of a segment was removed. */
  readonly onRemoved: () => void;
}

/** The journal of this process has records that are not in the database, and a reader waited for them long enough. */
export class JournalBehindError extends Error {
  override readonly name = 'JournalBehindError';

  constructor(cause?: unknown) {
    super('Records wait to be stored.', { cause });
  }
}

/** A segment of this process, up to where it is applied. */
interface OwnSegment {
  readonly segment: Segment;
  from: number;
  /** Where its last record ends. `undefined`: it is being written. */
  to: number | undefined;
}

interface Reader {
  readonly position: number;
  readonly resolve: () => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * For so long records gather before they are stored, where no reader waits for them. A row of a transaction of 50 costs half
 * of what a row of ten does, and each transaction syncs the disk that the segments are on.
 */
const GATHER_MS = 100;
const READER_MS_MAX = 2_000;

/** Stores the records of this process's own journal, behind the responses. */
export class ApplyLoop {
  readonly #deps: ApplyLoopDeps;
  readonly #segments: OwnSegment[] = [];
  #readers: Reader[] = [];
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #failures = 0;
  #isClosed = false;
  /** When the oldest record came that is not stored, monotonic. */
  #behindSinceMs: number | undefined;

  constructor(deps: ApplyLoopDeps) {
    this.#deps = deps;
  }

  /** The position up to which records are stored. */
  get applied(): number {
    const [first] = this.#segments;
    return first === undefined ? this.#deps.written() : first.segment.base + first.from;
  }

  /** For how long the oldest record has waited, ms; 0: none waits. */
  get behindMs(): number {
    return this.#behindSinceMs === undefined ? 0 : this.#deps.monotonicMs() - this.#behindSinceMs;
  }

  /** A segment that is written to from now on. */
  add(segment: Segment, start: number): void {
    this.#segments.push({ segment, from: start, to: undefined });
  }

  /** Nothing is written to the segment any more. */
  full(segment: Segment, end: number): void {
    const own = this.#segments.find((one) => one.segment.base === segment.base);
    if (own !== undefined) own.to = end;
  }

  /** Records were written. */
  wake(): void {
    this.#behindSinceMs ??= this.#deps.monotonicMs();
    if (this.#running === undefined && this.#timer === undefined && !this.#isClosed)
      this.#timer = setTimeout(() => this.#begin(), GATHER_MS).unref();
  }

  /**
   * Settles when all records that are written now are stored; `undefined`: they are.
   * @throws JournalBehindError when that takes too long
   */
  caughtUp(): Promise<void> | undefined {
    const position = this.#deps.written();
    if (this.applied >= position) return undefined;
    return new Promise((resolve, reject) => {
      const reader: Reader = {
        position,
        resolve,
        timer: setTimeout(() => {
          this.#readers = this.#readers.filter((one) => one !== reader);
          reject(new JournalBehindError());
        }, READER_MS_MAX),
      };
      this.#readers.push(reader);
      // Behind a failure the next try has its time.
      if (this.#running === undefined && this.#failures === 0) this.#begin();
    });
  }

  /** Stores what is left, for at most so long. @returns whether all of it is stored, and its files are removed */
  async close(msMax: number): Promise<boolean> {
    const untilMs = this.#deps.monotonicMs() + msMax;
    // First of all: two loops at once would both remove a segment.
    this.#isClosed = true;
    clearTimeout(this.#timer);
    while (this.#running !== undefined) await this.#running;
    for (const own of this.#segments) own.to ??= this.#deps.written() - own.segment.base;
    while (this.#segments.length > 0 && this.#deps.monotonicMs() < untilMs) {
      if (await this.#try()) continue;
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs(this.#failures)));
    }
    return this.#segments.length === 0;
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (!this.#isClosed) this.#continue();
    });
  }

  /** Stores what is written by now. */
  async #run(): Promise<void> {
    const [beganMs, target] = [this.#deps.monotonicMs(), this.#deps.written()];
    while (this.applied < target && !this.#isClosed) if (!(await this.#try())) return;
    this.#behindSinceMs = this.applied < this.#deps.written() ? beganMs : undefined;
  }

  #continue(): void {
    if (this.#failures > 0) this.#timer = setTimeout(() => this.#begin(), retryDelayMs(this.#failures)).unref();
    else if (this.#readers.length > 0) this.#begin();
    else if (this.applied < this.#deps.written()) this.wake();
  }

  /** @returns whether there was no failure */
  async #try(): Promise<boolean> {
    try {
      await this.#step();
      if (this.#failures > 0) this.#deps.reports.onStoreStuck(false);
      this.#failures = 0;
    } catch (error) {
      if (this.#failures++ === 0) this.#deps.reports.onStoreStuck(true, error);
      return false;
    }
    this.#release();
    return true;
  }

  async #step(): Promise<void> {
    const { store, written, lateBeforeMs, reports } = this.#deps;
    const [own] = this.#segments;
    if (own === undefined) return;
    const { segment, from } = own;
    const to = own.to ?? written() - segment.base;
    if (from < to) {
      const batch = await store.apply({
        source: { path: segment.path, from, to, isWhole: true },
        columns: store.columns,
        lateBeforeMs: lateBeforeMs(),
        checkpoint: { stream: segment.stream, base: segment.base },
      });
      if (batch.end <= from) throw new Error(`${segment.path} cannot be read from ${from} on.`);
      own.from = batch.end;
      reportBatch(reports, segment, batch);
    }
    if (own.to === undefined || own.from < own.to) return;
    await rm(segment.path, { force: true });
    this.#segments.shift();
    this.#deps.onRemoved();
  }

  #release(): void {
    const { applied } = this;
    const waiting: Reader[] = [];
    for (const reader of this.#readers) {
      if (this.#segments.length > 0 && reader.position > applied) waiting.push(reader);
      else {
        clearTimeout(reader.timer);
        reader.resolve();
      }
    }
    this.#readers = waiting;
  }
}
