import type { ByteBudget, BytesTaken } from './byte-budget.ts';

/** A shared memory budget had no room in time, or is smaller than the request. */
export class NoMemoryError extends Error {
  constructor() {
    super('no memory is left in the budget');
    this.name = 'NoMemoryError';
  }
}

/** The size of one step: few steps for large values, and little memory for small ones. */
const STEP_BYTES = 131_072;

/** Memory of a shared budget for a value whose size is unknown until all of it has arrived. */
export class GrowingBytes {
  readonly #budget: ByteBudget;
  readonly #signal: AbortSignal;
  #pieces: { readonly bytes: number; readonly taken: BytesTaken }[] = [];
  #held = 0;
  #isOver = false;

  constructor(budget: ByteBudget, signal: AbortSignal) {
    this.#budget = budget;
    this.#signal = signal;
  }

  /**
   * Holds at least so many bytes, and waits for them while they are not free.
   * @throws NoMemoryError as a rejection
   */
  hold(bytes: number): Promise<void> | undefined {
    return bytes <= this.#held ? undefined : this.#grow(bytes);
  }

  /** Returns everything. Memory that arrives later is returned at once. */
  close(): void {
    this.#isOver = true;
    this.shrink(0);
  }

  /** Returns all but so many bytes. */
  shrink(bytes: number): void {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#held = 0;
    for (const { bytes: size, taken } of pieces) {
      const kept = Math.min(size, Math.max(bytes - this.#held, 0));
      taken.shrink(kept);
      this.#held += kept;
      if (kept > 0) this.#pieces.push({ bytes: kept, taken });
    }
  }

  async #grow(bytes: number): Promise<void> {
    const steps = Math.ceil((bytes - this.#held) / STEP_BYTES);
    const more = Math.min(steps * STEP_BYTES, Math.max(this.#budget.bytesMax - this.#held, 0));
    if (this.#held + more < bytes) throw new NoMemoryError();
    const taken = await this.#budget.take(more, this.#signal);
    if (taken === undefined) throw new NoMemoryError();
    if (this.#isOver) {
      taken.shrink(0);
      return;
    }
    this.#held += more;
    this.#pieces.push({ bytes: more, taken });
  }
}
