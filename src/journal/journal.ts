import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../lib/async/with-timeout.ts';
import type { Clock } from '../lib/clock.ts';
import { makeFolder } from '../lib/files/make-folder.ts';
import { randomText } from '../lib/ids.ts';
import { listDamaged } from './batch.ts';
import { ApplyLoop, JournalBehindError } from './apply-loop.ts';
import { systemDisk, type Disk } from './disk.ts';
import type { Durability } from './durability.ts';
import { claimStream, removeLock, type JournalLock, type TakeLock } from './locks.ts';
import { Orphans } from './orphans.ts';
import type { JournalReports } from './reports.ts';
import { listSegments, makeSegment, SEGMENT_BYTES, SEGMENT_FORMAT, type OpenSegment } from './segments.ts';
import type { JournalStore } from './store.ts';
import { JournalError, JournalWriter } from './writer.ts';

/** Every durable fact of a request: written to a file before the response ends, and stored in the database behind it. */
export interface Journal {
  /** The name of this process's journal. */
  readonly stream: string;
  /**
   * Settles when the record is as durable as the configuration says.
   * @param payload one line of text
   * @throws JournalError after some seconds without; the record is written as soon as that works
   */
  append(payload: string): Promise<void>;
  /**
   * Settles when all records of this process are stored that were appended before; `undefined`: they are.
   * @throws JournalBehindError when that takes too long
   */
  caughtUp(): Promise<void> | undefined;
  /** Calls a listener after each write, before what was appended settles. Called once. */
  onWritten(listener: (position: number) => void): void;
  /** Calls a listener when all of a stream is stored, before that is forgotten. Called once. */
  onFinished(listener: (stream: string) => Promise<void>): void;
  /** Takes the room for the record of one request. @returns `false`: there is none; nothing was taken */
  takeRoom(): boolean;
  returnRoom(): void;
  status(): JournalStatus;
  /** Applies what processes that are gone have left, and looks for more of it from then on. */
  start(): Promise<void>;
  /** Applies a journal as soon as its process is gone, if that is soon. Never rejects. */
  adopt(stream: string): Promise<void>;
  /** Stores what is left, and leaves what cannot be stored to the next process. */
  close(): Promise<void>;
}

export interface JournalStatus {
  /** Up to which it is written. */
  readonly position: number;
  /** Of the segments of this process. */
  readonly bytes: number;
  /** Of all segments in the folder, some seconds ago where other processes write there. */
  readonly folderBytes: number;
  readonly bytesMax: number;
  /** Records that are not on the disk. */
  readonly unwritten: number;
  /** Bytes that are not in the database. */
  readonly unapplied: number;
  /** For how long the oldest record has waited for the database, ms. */
  readonly behindMs: number;
  /** No request can begin. */
  readonly isFull: boolean;
  /** Responses have ended whose records are not in the database, although the configuration wants that. */
  readonly isLate: boolean;
  /** Parts of journals that could not be read, and are set aside. */
  readonly damaged: number;
  /** Records of processes that are gone wait for the database. */
  readonly hasOrphans: boolean;
  /** `false`: the file system has no locks that work, and nothing shows which processes are gone. */
  readonly hasLocks: boolean;
}

export interface JournalOptions {
  readonly folder: string;
  readonly store: JournalStore;
  readonly durability: Durability;
  /** Of all segments in the folder. */
  readonly bytesMax: number;
  /** So long after its request a record may still come and not be late, ms. */
  readonly lagMs: number;
  readonly takeLock: TakeLock;
  /** Stores what versions before the journal have left. @throws Error when the store takes nothing */
  readonly applyEarlier: () => Promise<void>;
  readonly reports: JournalReports;
  readonly clock: Clock;
  readonly disk?: Disk;
  /** So long the close stores what is left. Default: 10 s. */
  readonly closeMsMax?: number;
}

const ADOPT_EVERY_MS = 5_000;
const ADOPT_PAUSE_MS = 50;
/** So long a process waits for another one that applies what is left, which may be stopped. */
const ADOPTER_MS_MAX = 10_000;
const CLOSE_MS_MAX = 10_000;
const CLOSE_DISK_MS_MAX = 2_000;
const SYNC_MS_MAX = 2_000;

/** @throws Error of the system, with the path, when the folder cannot be written */
export async function openJournal(options: JournalOptions): Promise<Journal> {
  const { folder, clock, takeLock, reports } = options;
  await makeFolder(folder);
  const makeName = (): string => `${String(Math.floor(clock.nowMs())).padStart(15, '0')}-${randomText(12)}`;
  // Before the first segment: what has segments and no lock is an orphan.
  const { stream, lock } = claimStream(folder, takeLock, makeName);
  try {
    const first = await makeSegment(folder, headOf(options, stream, 0));
    if (lock === undefined) reports.onNoLocks();
    return new FileJournal(options, stream, lock, first);
  } catch (error) {
    removeLock(folder, stream);
    lock?.release();
    throw error;
  }
}

function headOf({ store }: Pick<JournalOptions, 'store'>, stream: string, base: number) {
  return { format: SEGMENT_FORMAT, database: store.databaseId, stream, base, columns: store.columns };
}

class FileJournal implements Journal {
  readonly #options: JournalOptions;
  readonly stream: string;
  readonly #lock: JournalLock | undefined;
  readonly #writer: JournalWriter;
  readonly #loop: ApplyLoop;
  readonly #orphans: Orphans;
  #onWritten: ((position: number) => void) | undefined;
  #onFinished: ((stream: string) => Promise<void>) | undefined;
  #requests = 0;
  #bytes = SEGMENT_BYTES;
  /** The position up to which responses have ended that should have waited for the database. */
  #lateUntil = 0;
  /** Of other processes. */
  #otherBytes = 0;
  #hasOrphans = true;
  #cannotAdopt = false;
  /** Until then orphans that another process applies are not in the sums yet, monotonic. */
  #adopterUntilMs: number;
  #damaged = 0;
  #adopting: Promise<void> | undefined;
  #adoptTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: JournalOptions, stream: string, lock: JournalLock | undefined, first: OpenSegment) {
    const { store, durability, clock, reports, disk = systemDisk } = options;
    this.#options = options;
    this.stream = stream;
    this.#lock = lock;
    this.#adopterUntilMs = clock.monotonicMs() + ADOPTER_MS_MAX;
    const lateBeforeMs = (): number => clock.nowMs() - options.lagMs;
    this.#loop = new ApplyLoop({
      store,
      written: () => this.#writer.position,
      lateBeforeMs,
      monotonicMs: clock.monotonicMs,
      reports,
      onRemoved: () => (this.#bytes -= SEGMENT_BYTES),
    });
    this.#loop.add(first, first.start);
    this.#writer = new JournalWriter({
      first,
      make: (base) => this.#makeSegment(base),
      isSynced: durability === 'power',
      disk,
      clock,
      onWritten: () => {
        this.#loop.wake();
        this.#onWritten?.(this.#writer.position);
      },
      onFull: (segment, end, next) => {
        this.#loop.full(segment, end);
        this.#loop.add(next, next.start);
      },
      onStuck: (isStuck, error) => reports.onDiskStuck(isStuck, error),
      onLost: (payload, error) => reports.onLost(payload, error.message),
    });
    this.#orphans = new Orphans({
      ...options,
      takeLock: lock && options.takeLock,
      lateBeforeMs,
      own: stream,
      onFinished: async (finished) => this.#onFinished?.(finished),
    });
  }

  append(payload: string): Promise<void> {
    const written = this.#writer.append(payload);
    return this.#options.durability === 'database' ? this.#stored(written) : written;
  }

  caughtUp(): Promise<void> | undefined {
    // What is not even written is in no position.
    if (this.#writer.isLate) return Promise.reject(new JournalBehindError());
    return this.#loop.caughtUp();
  }

  onWritten(listener: (position: number) => void): void {
    this.#onWritten = listener;
  }

  onFinished(listener: (stream: string) => Promise<void>): void {
    this.#onFinished = listener;
  }

  takeRoom(): boolean {
    if (!this.#writer.hasRoomFor(this.#requests)) return false;
    this.#requests++;
    return true;
  }

  returnRoom(): void {
    this.#requests--;
  }

  status(): JournalStatus {
    return {
      position: this.#writer.position,
      bytes: this.#bytes,
      folderBytes: this.#bytes + this.#otherBytes,
      bytesMax: this.#options.bytesMax,
      unwritten: this.#writer.pendingCount,
      unapplied: this.#writer.position - this.#loop.applied,
      behindMs: this.#loop.behindMs,
      isFull: !this.#writer.hasRoomFor(this.#requests),
      isLate: this.#lateUntil > this.#loop.applied,
      hasOrphans: this.#hasOrphans,
      hasLocks: this.#lock !== undefined,
      damaged: this.#damaged,
    };
  }

  async start(): Promise<void> {
    await this.#adopt();
  }

  async adopt(stream: string): Promise<void> {
    for (const untilMs = this.#options.clock.monotonicMs() + ADOPT_EVERY_MS; ;) {
      await this.#adopt();
      const left = await listSegments(this.#options.folder).catch(() => []);
      const isLeft = left.some((segment) => segment.stream === stream);
      if (!isLeft || this.#isClosed || this.#options.clock.monotonicMs() > untilMs) return;
      // The lock of a process may outlive its connections for a moment.
      await sleep(ADOPT_PAUSE_MS);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#adoptTimer);
    await this.#adopting;
    const { folder, store, closeMsMax = CLOSE_MS_MAX } = this.#options;
    await this.#writer.close(CLOSE_DISK_MS_MAX);
    const isEmpty = await this.#loop.close(closeMsMax);
    if (isEmpty) {
      await this.#onFinished?.(this.stream);
      await store.dropCheckpoint(this.stream).catch(() => undefined);
      await this.#removeSpare();
      removeLock(folder, this.stream);
    }
    this.#lock?.release();
  }

  /** Waits for the database; after that the record is at least on the disk. */
  async #stored(written: Promise<void>): Promise<void> {
    await written;
    try {
      await this.#loop.caughtUp();
    } catch (error) {
      if (!(error instanceof JournalBehindError)) throw error;
      this.#lateUntil = this.#writer.position;
      this.#options.reports.onLate();
      await withTimeout(this.#writer.synced(), SYNC_MS_MAX).catch((cause: unknown) => {
        throw new JournalError('The disk does not take the record.', { cause });
      });
    }
  }

  async #makeSegment(base: number): Promise<OpenSegment> {
    const { folder, bytesMax } = this.#options;
    await this.#measureOthers();
    if (this.#bytes + this.#otherBytes + SEGMENT_BYTES > bytesMax) throw new Error(`The journal in ${folder} is full.`);
    const segment = await makeSegment(folder, headOf(this.#options, this.stream, base));
    this.#bytes += SEGMENT_BYTES;
    return segment;
  }

  async #adopt(): Promise<void> {
    // Not two at once: the second would find the first one's locks.
    this.#adopting ??= this.#adoptAll().finally(() => (this.#adopting = undefined));
    await this.#adopting;
  }

  async #adoptAll(): Promise<void> {
    clearTimeout(this.#adoptTimer);
    const { folder, clock, reports } = this.#options;
    let pauseMs = ADOPT_EVERY_MS;
    try {
      if (await this.#orphans.adopt()) this.#hasOrphans = false;
      else if (clock.monotonicMs() > this.#adopterUntilMs) this.#hasOrphans = false;
      else if (this.#hasOrphans) pauseMs = ADOPT_PAUSE_MS;
      // Of other processes on the folder, too.
      this.#damaged = (await listDamaged(folder)).length;
      await this.#measureOthers();
      this.#cannotAdopt = false;
    } catch (error) {
      if (!this.#cannotAdopt) reports.onStoreStuck(true, error);
      this.#cannotAdopt = true;
      this.#hasOrphans = true;
      this.#adopterUntilMs = clock.monotonicMs() + ADOPTER_MS_MAX;
    }
    if (!this.#isClosed) this.#adoptTimer = setTimeout(() => void this.#adopt(), pauseMs).unref();
  }

  async #measureOthers(): Promise<void> {
    const segments = await listSegments(this.#options.folder);
    this.#otherBytes = segments.filter(({ stream }) => stream !== this.stream).length * SEGMENT_BYTES;
  }

  /** The segment that was made and not written to. */
  async #removeSpare(): Promise<void> {
    for (const { stream, path } of await listSegments(this.#options.folder))
      if (stream === this.stream) await rm(path, { force: true });
  }
}
