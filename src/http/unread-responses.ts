import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PAUSED_BYTES } from '../lib/net/paused-responses.ts';

/**
 * Answers that their callers have not taken yet: complete ones, and streams whose readers are behind. They stay in memory
 * until they are taken, so they are bounded together, and a complete one has so long to be taken.
 */
export interface UnreadResponses {
  /** The answer is complete. */
  complete(response: ServerResponse): void;
  /** Its reader is behind, and more is to come: until it has caught up, or the connection is closed. */
  waitForReader(response: ServerResponse): void;
  /** Drops the stream whose reader has taken nothing for longest. @returns whether there was one */
  dropStalled(): boolean;
}

/** An answer that is complete waits so long for a caller that takes nothing of it; then its connection is dropped. */
const UNTAKEN_MS = 60_000;
/** What is less counts with its connection. */
const COUNTED_BYTES = 16_384;
/**
 * A reader of a stream for which the kernel accepts anything within this time is not dropped. The kernel accepts more
 * only once a third or so of its buffer is free, which is some megabytes where it has grown; so a reader that is that
 * far behind and slower than that is dropped, too.
 */
const STALLED_MS = 1_000;

interface Waiting {
  readonly bytes: number;
  readonly isStream: boolean;
  /** When it last took something, as far as was looked. */
  sinceMs: number;
  /** What the kernel had not taken then. */
  untakenBytes: number;
}

export interface UnreadLimits {
  /** Beyond it the answers are dropped that wait longest, never the last one. */
  readonly bytesMax: number;
  readonly untakenMs?: number;
  readonly stalledMs?: number;
}

export function createUnreadResponses(limits: UnreadLimits): UnreadResponses {
  return new WaitingResponses(limits);
}

class WaitingResponses implements UnreadResponses {
  readonly #bytesMax: number;
  readonly #untakenMs: number;
  readonly #stalledMs: number;
  /** Those that wait longest come first. */
  readonly #waiting = new Map<ServerResponse, Waiting>();
  readonly #known = new WeakSet<ServerResponse>();
  #total = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ bytesMax, untakenMs = UNTAKEN_MS, stalledMs = STALLED_MS }: UnreadLimits) {
    this.#bytesMax = bytesMax;
    this.#untakenMs = untakenMs;
    this.#stalledMs = stalledMs;
  }

  complete(response: ServerResponse): void {
    const bytes = response.writableLength;
    if (bytes === 0) return;
    response.setTimeout(this.#untakenMs, () => response.destroy());
    if (bytes < COUNTED_BYTES) return;
    this.#add(response, bytes, false);
  }

  waitForReader(response: ServerResponse): void {
    if (response.destroyed || !response.writableNeedDrain) return;
    response.once('drain', () => this.#forget(response));
    this.#add(response, response.writableLength + PAUSED_BYTES, true);
  }

  #add(response: ServerResponse, bytes: number, isStream: boolean): void {
    this.#forget(response);
    // A stream waits again and again.
    if (!this.#known.has(response)) this.#known.add(response.once('close', () => this.#forget(response)));
    const untakenBytes = untakenBytesOf(response.socket);
    this.#waiting.set(response, { bytes, isStream, sinceMs: performance.now(), untakenBytes });
    this.#total += bytes;
    this.#makeRoom();
  }

  dropStalled(): boolean {
    const nowMs = performance.now();
    for (const [response, one] of this.#waiting) {
      if (!one.isStream || one.sinceMs + this.#stalledMs > nowMs || this.#hasTaken(response, one, nowMs)) continue;
      this.#drop(response);
      return true;
    }
    return false;
  }

  #drop(response: ServerResponse): void {
    this.#forget(response);
    response.destroy();
  }

  #forget(response: ServerResponse): void {
    this.#total -= this.#waiting.get(response)?.bytes ?? 0;
    this.#waiting.delete(response);
  }

  #makeRoom(): void {
    const nowMs = performance.now();
    for (const [response, one] of this.#waiting) {
      if (this.#total <= this.#bytesMax || this.#waiting.size === 1) return;
      const leftMs = one.sinceMs + this.#stalledMs - nowMs;
      // The others came later.
      if (one.isStream && leftMs > 0) return this.#lookAgain(leftMs);
      if (one.isStream && this.#hasTaken(response, one, nowMs)) continue;
      this.#drop(response);
    }
  }

  /** A reader that does take something waits anew, behind the others. */
  #hasTaken(response: ServerResponse, one: Waiting, nowMs: number): boolean {
    const untakenBytes = untakenBytesOf(response.socket);
    if (untakenBytes === one.untakenBytes) return false;
    this.#waiting.delete(response);
    this.#waiting.set(response, { ...one, sinceMs: nowMs, untakenBytes });
    return true;
  }

  #lookAgain(inMs: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      // What readers took meanwhile is written first.
      setImmediate(() => {
        this.#timer = undefined;
        this.#makeRoom();
      });
    }, inMs).unref();
  }
}

/** What the kernel has not taken yet. Node keeps it for its own limits on time, and shows it nowhere else. */
function untakenBytesOf(socket: Socket | null): number {
  const handle: unknown = socket === null ? undefined : Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null || !('writeQueueSize' in handle)) return 0;
  return typeof handle.writeQueueSize === 'number' ? handle.writeQueueSize : 0;
}
