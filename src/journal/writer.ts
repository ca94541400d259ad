import { withTimeout } from '../lib/async/with-timeout.ts';
import type { Clock } from '../lib/clock.ts';
import type { Disk } from './disk.ts';
import { PAYLOAD_BYTES_MAX, readFrames } from './frames.ts';
import { PendingFrames, type FrameWaiter } from './pending-frames.ts';
import { SegmentSync } from './segment-sync.ts';
import { SEGMENT_BYTES, type OpenSegment } from './segments.ts';

/** A record could not be written to the journal in time, or at all. */
export class JournalError extends Error {
  override readonly name = 'JournalError';
}

export interface JournalWriterOptions {
  /** The segment to begin with. */
  readonly first: OpenSegment;
  /** Makes the segment with the given base. @throws Error where there is no room for it */
  readonly make: (base: number) => Promise<OpenSegment>;
  /** Whether `append` settles only when the record is on the disk. */
  readonly isSynced: boolean;
  readonly disk: Disk;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Something was written. */
  readonly onWritten: () => void;
  /** The segment has been filled up to an offset, and the next one is written to. */
  readonly onFull: (segment: OpenSegment, end: number, next: OpenSegment) => void;
  /** Called when records begin to wait for the disk, and when they no longer do. */
  readonly onStuck: (isStuck: boolean, error?: Error) => void;
  /** Called with a record that will not be written: the last chance to keep it. */
  readonly onLost: (payload: string, error: Error) => void;
}

/** A response does not wait longer than this for its record. */
const LATE_MS = 2_000;
/** Records that wait for the disk; more of them are given up. */
const PENDING_BYTES_MAX = 33_554_432;
const RETRY_MS = 100;
/** A segment whose writes fail so often may lie on a bad part of the disk. */
const TRIES_IN_SEGMENT = 20;
/** Room that a request under way needs for its record. */
const RECORD_BYTES = 4_096;
/** A write that takes longer, or a sync, shows a slow disk: the event loop must not wait for it. */
const SLOW_WRITE_MS = 5;
const SLOW_SYNC_MS = 25;
/** After which the disk is taken to be quick again. */
const SLOW_LIFE_MS = 1_000;

/**
 * Writes records to segments. All that are appended in one turn of the event loop are one write. The write is synchronous:
 * it copies to the kernel's memory and takes some microseconds, where a thread takes ten times that; on a disk that has
 * shown to be slow it is done in a thread, one at a time.
 */
export class JournalWriter {
  readonly #options: JournalWriterOptions;
  readonly #pending = new PendingFrames();
  readonly #sync: SegmentSync;
  #segment: OpenSegment;
  #offset: number;
  #spare: OpenSegment | undefined;
  #making: Promise<void> | undefined;
  /** Why there is no further segment. */
  #noSpare: Error | undefined;
  #isFlushPlanned = false;
  #writing: Promise<void> | undefined;
  #slowUntilMs = 0;
  #isStuck = false;
  /** Writes that failed one after the other. */
  #failures = 0;
  #isLate = false;
  #retry: NodeJS.Timeout | undefined;
  #lateTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: JournalWriterOptions) {
    this.#options = options;
    this.#segment = options.first;
    this.#offset = options.first.start;
    this.#sync = new SegmentSync({
      disk: options.disk,
      clock: options.clock,
      isAwaited: options.isSynced,
      onFailed: (error) => this.#stuck(error),
    });
    this.#prepare();
  }

  /** The position up to which everything is written. */
  get position(): number {
    return this.#segment.base + this.#offset;
  }

  /** Whether a record waits for the disk for so long that its response has ended with an error. */
  get isLate(): boolean {
    return this.#isLate;
  }

  get pendingCount(): number {
    return this.#pending.count;
  }

  /** Whether the records of so many requests under way, and of one more, have their room on the disk. */
  hasRoomFor(requests: number): boolean {
    if (this.#isClosed || this.#isLate) return false;
    if (this.#noSpare === undefined) return true;
    const spare = this.#spare === undefined ? 0 : SEGMENT_BYTES;
    const free = SEGMENT_BYTES - this.#offset + spare - this.#pending.bytes;
    return free >= (requests + 1) * RECORD_BYTES;
  }

  /**
   * Settles when the record survives the end of the process, or with `isSynced` that of the machine.
   * @param payload one line of text
   * @throws JournalError after two seconds without; the record is written all the same as soon as the disk takes it
   */
  append(payload: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const refusal = this.#refusalOf(payload);
      if (refusal !== undefined) {
        this.#options.onLost(payload, refusal);
        return reject(refusal);
      }
      this.#pending.push(payload, { sinceMs: this.#options.clock.monotonicMs(), resolve, reject });
      this.#planFlush();
    });
  }

  /** Settles when everything that was appended is on the disk. @throws Error of the system */
  async synced(): Promise<void> {
    await this.#sync.synced();
  }

  /**
   * Writes what is left, once more, and gives up what cannot be written.
   * @param msMax a disk that hangs for longer, once for what is written and once for its sync, is left alone
   */
  async close(msMax: number): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    await withTimeout(this.#drainAll(), msMax).catch(() => undefined);
    clearTimeout(this.#lateTimer);
    this.#giveUp();
    this.#sync.closeSegment(this.#segment);
    if (this.#spare !== undefined) this.#sync.closeSegment(this.#spare);
    await withTimeout(this.#sync.end(), msMax).catch(() => undefined);
  }

  async #drainAll(): Promise<void> {
    await this.#drain();
    await this.#making;
    await this.#drain();
  }

  async #drain(): Promise<void> {
    if (this.#writing === undefined) this.#flush();
    for (let writing = this.#writing; writing !== undefined; writing = this.#writing) await writing;
  }

  #refusalOf(payload: string): JournalError | undefined {
    if (this.#isClosed) return new JournalError('The journal is closed.');
    if (payload.length > PAYLOAD_BYTES_MAX / 3) return new JournalError('The record is too large for the journal.');
    if (this.#pending.bytes >= PENDING_BYTES_MAX) return new JournalError('Too many records wait for the disk.');
    return undefined;
  }

  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    // Behind the poll phase: what ends in the same turn of the event loop goes with it.
    setImmediate(() => {
      this.#isFlushPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#writing !== undefined || this.#retry !== undefined) return;
    while (this.#pending.count > 0) {
      const { count, bytes } = this.#pending.first(SEGMENT_BYTES - this.#offset);
      if (count === 0) {
        if (this.#nextSegment()) continue;
        return this.#watchLate();
      }
      if (this.#isSlow()) {
        this.#writing = this.#writeInThread(count, bytes);
        return;
      }
      if (!this.#writeNow(count, bytes)) return;
    }
  }

  #isSlow(): boolean {
    if (this.#sync.underWayMs > SLOW_SYNC_MS) return true;
    return this.#slowUntilMs > 0 && this.#options.clock.monotonicMs() < this.#slowUntilMs;
  }

  #writeNow(count: number, bytes: Buffer): boolean {
    const { disk, clock } = this.#options;
    const beganMs = clock.monotonicMs();
    try {
      for (let at = 0; at < bytes.length;)
        at += disk.writeNow(this.#segment.handle.fd, at === 0 ? bytes : bytes.subarray(at), this.#offset + at);
    } catch (error) {
      this.#failed(error);
      return false;
    }
    this.#noteTime(clock.monotonicMs() - beganMs);
    this.#written(count, bytes.length);
    return true;
  }

  async #writeInThread(count: number, bytes: Buffer): Promise<void> {
    const { disk, clock } = this.#options;
    const { fd } = this.#segment.handle;
    const beganMs = clock.monotonicMs();
    this.#watchLate();
    try {
      for (let at = 0; at < bytes.length;) at += await disk.write(fd, bytes.subarray(at), this.#offset + at);
    } catch (error) {
      this.#writing = undefined;
      return this.#failed(error);
    }
    this.#writing = undefined;
    this.#noteTime(clock.monotonicMs() - beganMs);
    this.#written(count, bytes.length);
    this.#flush();
  }

  #noteTime(ms: number): void {
    if (ms > SLOW_WRITE_MS) this.#slowUntilMs = this.#options.clock.monotonicMs() + SLOW_LIFE_MS;
  }

  #written(count: number, bytes: number): void {
    this.#offset += bytes;
    this.#failures = 0;
    this.#isLate = false;
    this.#unstuck();
    const waiters = this.#pending.take(count);
    this.#sync.wrote(this.#segment);
    if (this.#options.isSynced) void this.#afterSync(waiters);
    else for (const { resolve } of waiters) resolve();
    this.#options.onWritten();
    if (SEGMENT_BYTES - this.#offset < SEGMENT_BYTES / 2) this.#prepare();
  }

  async #afterSync(waiters: readonly FrameWaiter[]): Promise<void> {
    if (waiters.length === 0) return;
    const late = setTimeout(() => rejectAll(waiters, LATE), LATE_MS);
    try {
      await this.#sync.synced();
      for (const { resolve } of waiters) resolve();
    } catch (cause) {
      rejectAll(waiters, new JournalError('The journal cannot be synced.', { cause }));
    } finally {
      clearTimeout(late);
    }
  }

  /** A try that failed is made again, and in the next segment where this one keeps failing. */
  #failed(cause: unknown): void {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    this.#stuck(error);
    if (++this.#failures % TRIES_IN_SEGMENT === 0) this.#nextSegment();
    this.#watchLate();
    this.#planRetry();
  }

  #planRetry(): void {
    if (this.#isClosed) return;
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.#flush();
    }, RETRY_MS).unref();
  }

  /** @returns whether there is one */
  #nextSegment(): boolean {
    const spare = this.#spare;
    if (spare === undefined) {
      this.#prepare();
      return false;
    }
    const full = this.#segment;
    this.#options.onFull(full, this.#offset, spare);
    this.#sync.closeSegment(full);
    this.#segment = spare;
    this.#offset = spare.start;
    this.#spare = undefined;
    this.#prepare();
    return true;
  }

  /** Makes the next segment, until there is one. */
  #prepare(): void {
    if (this.#spare === undefined && !this.#isClosed) this.#making ??= this.#makeSpare();
  }

  async #makeSpare(): Promise<void> {
    try {
      this.#spare = await this.#options.make(this.#segment.base + SEGMENT_BYTES);
      this.#making = undefined;
      this.#noSpare = undefined;
      this.#unstuck();
      if (this.#writing === undefined) this.#flush();
    } catch (cause) {
      this.#making = undefined;
      this.#noSpare = cause instanceof Error ? cause : new Error(String(cause));
      this.#stuck(this.#noSpare);
      if (!this.#isClosed) setTimeout(() => this.#prepare(), RETRY_MS * 10).unref();
    }
  }

  /** Rejects what has waited for too long, as long as something waits. */
  #watchLate(): void {
    if (this.#lateTimer !== undefined || this.#pending.count === 0) return;
    this.#lateTimer = setTimeout(() => {
      this.#lateTimer = undefined;
      const late = this.#pending.takeWaiters(this.#options.clock.monotonicMs() - LATE_MS);
      if (late.length > 0) this.#isLate = true;
      rejectAll(late, LATE);
      this.#watchLate();
    }, RETRY_MS);
  }

  #giveUp(): void {
    const { bytes, count } = this.#pending.first(Infinity);
    for (const { payload } of readFrames(bytes).frames) this.#options.onLost(payload, CLOSED);
    rejectAll(this.#pending.take(count), CLOSED);
  }

  #stuck(error: Error): void {
    if (this.#isStuck) return;
    this.#isStuck = true;
    this.#options.onStuck(true, error);
  }

  #unstuck(): void {
    if (!this.#isStuck || this.#noSpare !== undefined || this.#failures > 0) return;
    this.#isStuck = false;
    this.#options.onStuck(false);
  }
}

const LATE = new JournalError('The disk does not take the record.');
const CLOSED = new JournalError('The journal is closed.');

function rejectAll(waiters: readonly FrameWaiter[], error: JournalError): void {
  for (const { reject } of waiters) reject(error);
}
