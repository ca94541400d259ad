import { frameBytesMax, writeFrame } from './frames.ts';

/** What waits for its frame to be written. */
export interface FrameWaiter {
  /** Monotonic, ms. */
  readonly sinceMs: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface PendingFrame {
  readonly bytes: number;
  /** `undefined`: it was rejected already, since its frame comes too late. */
  waiter: FrameWaiter | undefined;
}

const BYTES_MIN = 65_536;

/** Frames that are not written yet, one after the other in one buffer. */
export class PendingFrames {
  #buffer: Buffer = Buffer.allocUnsafeSlow(BYTES_MIN);
  #frames: PendingFrame[] = [];
  #bytes = 0;

  get count(): number {
    return this.#frames.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(payload: string, waiter: FrameWaiter): void {
    this.#makeRoom(frameBytesMax(payload));
    const end = writeFrame(this.#buffer, this.#bytes, payload);
    this.#frames.push({ bytes: end - this.#bytes, waiter });
    this.#bytes = end;
  }

  /** The first frames, as many as so many bytes have room for. They stay as they are while others are pushed. */
  first(bytesMax: number): { readonly count: number; readonly bytes: Buffer } {
    if (this.#bytes <= bytesMax) return { count: this.#frames.length, bytes: this.#buffer.subarray(0, this.#bytes) };
    let bytes = 0;
    let count = 0;
    for (const frame of this.#frames) {
      if (bytes + frame.bytes > bytesMax) break;
      bytes += frame.bytes;
      count++;
    }
    return { count, bytes: this.#buffer.subarray(0, bytes) };
  }

  /** Removes the first frames. @returns those that wait for them */
  take(count: number): readonly FrameWaiter[] {
    const taken = count === this.#frames.length ? this.#frames : this.#frames.slice(0, count);
    this.#frames = count === this.#frames.length ? [] : this.#frames.slice(count);
    const waiters: FrameWaiter[] = [];
    let bytes = 0;
    for (const frame of taken) {
      bytes += frame.bytes;
      if (frame.waiter !== undefined) waiters.push(frame.waiter);
    }
    this.#buffer.copyWithin(0, bytes, this.#bytes);
    this.#bytes -= bytes;
    if (this.#bytes === 0 && this.#buffer.length > BYTES_MIN) this.#buffer = Buffer.allocUnsafeSlow(BYTES_MIN);
    return waiters;
  }

  /** Takes back what waits since then or longer; the frames stay. */
  takeWaiters(untilMs: number): readonly FrameWaiter[] {
    const waiters: FrameWaiter[] = [];
    for (const frame of this.#frames) {
      if (frame.waiter === undefined || frame.waiter.sinceMs > untilMs) continue;
      waiters.push(frame.waiter);
      frame.waiter = undefined;
    }
    return waiters;
  }

  /** A write under way goes on with the old buffer. */
  #makeRoom(bytes: number): void {
    if (this.#bytes + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, this.#bytes + bytes));
    this.#buffer.copy(larger, 0, 0, this.#bytes);
    this.#buffer = larger;
  }
}
