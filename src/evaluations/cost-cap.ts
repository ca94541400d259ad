/**
 * Keeps the cost of a run below its cap, whatever its calls come to cost: each holds its worst case while it is under way. A
 * class because calls come and go side by side.
 */
export class CostCap {
  #capNanoUsd: number;
  #spentNanoUsd: number;
  #heldNanoUsd = 0;
  #changed = Promise.withResolvers<void>();

  constructor(capNanoUsd: number, spentNanoUsd: number) {
    this.#capNanoUsd = capNanoUsd;
    this.#spentNanoUsd = spentNanoUsd;
  }

  /** Waits for calls under way, whose real cost may leave room. @returns whether the call may be made */
  async take(worstNanoUsd: number): Promise<boolean> {
    while (this.#spentNanoUsd + this.#heldNanoUsd + worstNanoUsd > this.#capNanoUsd) {
      if (this.#heldNanoUsd === 0) return false;
      await this.#changed.promise;
    }
    this.#heldNanoUsd += worstNanoUsd;
    return true;
  }

  /** A call has ended. */
  settle(worstNanoUsd: number, costNanoUsd: number): void {
    this.#heldNanoUsd -= worstNanoUsd;
    this.#spentNanoUsd += costNanoUsd;
    this.#wake();
  }

  /** It was raised or lowered meanwhile. */
  set(capNanoUsd: number): void {
    this.#capNanoUsd = capNanoUsd;
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
