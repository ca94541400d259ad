import type { ByteBudget } from './byte-budget.ts';
import { GrowingBytes } from './growing-bytes.ts';

/** The memory of one file among those of a request. */
export interface HeldFile {
  /** Holds at least so many bytes. @throws NoMemoryError as a rejection */
  hold(bytes: number): Promise<void> | undefined;
  /** The file is here, or is not to be: so many bytes of it stay. */
  keep(bytes: number): void;
}

/**
 * What the files of one request take of a shared budget, some growing at the same time. One waits at a time, for memory of
 * all of them together, so that a request never waits for memory that it holds itself: it waits for its own files first.
 */
export class HeldFiles {
  readonly #budget: ByteBudget;
  readonly #memory: GrowingBytes;
  readonly #sizes: number[] = [];
  readonly #growing = new Set<number>();
  #waiting = 0;
  #turn: Promise<void> = Promise.resolve();
  #settled = Promise.withResolvers<void>();

  constructor(budget: ByteBudget, signal: AbortSignal) {
    this.#budget = budget;
    this.#memory = new GrowingBytes(budget, signal);
  }

  open(): HeldFile {
    const at = this.#sizes.push(0) - 1;
    this.#growing.add(at);
    return {
      hold: (bytes) => (bytes <= (this.#sizes[at] ?? 0) ? undefined : this.#wait(at, bytes)),
      keep: (bytes) => this.#settle(at, bytes),
    };
  }

  close(): void {
    this.#memory.close();
  }

  #wait(at: number, bytes: number): Promise<void> {
    this.#waiting++;
    const turn = this.#turn.then(() => this.#take(at, bytes)).finally(() => void this.#waiting--);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #take(at: number, bytes: number): Promise<void> {
    this.#sizes[at] = bytes;
    try {
      while (this.#total() > this.#budget.bytesMax && this.#growing.size > this.#waiting) await this.#settled.promise;
      await this.#memory.hold(this.#total());
    } catch (error) {
      this.#settle(at, 0);
      throw error;
    }
  }

  #settle(at: number, bytes: number): void {
    this.#sizes[at] = bytes;
    this.#growing.delete(at);
    this.#memory.shrink(this.#total());
    this.#settled.resolve();
    this.#settled = Promise.withResolvers();
  }

  #total(): number {
    return this.#sizes.reduce((sum, bytes) => sum + bytes, 0);
  }
}
