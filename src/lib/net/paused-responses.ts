/** What a response with a slow reader holds: its queue, the buffer of its socket, and pieces that are not collected yet. */
export const PAUSED_BYTES = 196_608;

/** A response whose upstream waits until more of it is read. */
export interface PausedResponse {
  /** Whether it stays although nothing reads it: it waits for memory itself. */
  readonly isKept?: boolean;
  /** Whether nothing reads it. */
  isUnread(): boolean;
  /** Fails it, and frees what it holds. */
  drop(): void;
}

/** The paused responses of a client, which are bounded together. Those that are kept are counted where they wait. */
export class PausedResponses {
  /** In the order in which they were paused. */
  readonly #all = new Set<PausedResponse>();
  readonly #max: number;

  /** @param bytesMax what they may hold together */
  constructor(bytesMax: number) {
    this.#max = Math.ceil(bytesMax / PAUSED_BYTES);
  }

  has(response: PausedResponse): boolean {
    return this.#all.has(response);
  }

  /**
   * Drops another one that nothing reads, where there are too many.
   * @returns whether there is room for it
   */
  add(response: PausedResponse): boolean {
    if (response.isKept !== true && this.#countUnkept() >= this.#max && !this.#dropUnread()) return false;
    this.#all.add(response);
    return true;
  }

  /** @returns whether it was paused */
  delete(response: PausedResponse): boolean {
    return this.#all.delete(response);
  }

  #countUnkept(): number {
    let count = 0;
    for (const { isKept } of this.#all) if (isKept !== true) count++;
    return count;
  }

  #dropUnread(): boolean {
    for (const one of this.#all) {
      if (one.isKept === true || !one.isUnread()) continue;
      one.drop();
      return true;
    }
    return false;
  }
}
