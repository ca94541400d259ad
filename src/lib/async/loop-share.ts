/** In one turn of the event loop: some milliseconds of reading and writing streams. */
const BYTES_MAX = 131_072;
/** Smaller pieces are of streams that come as a model writes. They are not counted, so they cost nothing. */
const COUNTED_BYTES = 4_096;

interface Waiting {
  readonly bytes: number;
  readonly resume: () => boolean;
}

/**
 * Keeps the data of many fast upstreams from holding the event loop: of what has arrived, one turn of the loop passes on so
 * much, and the rest waits for the next turn, first in, first out. A short request, which takes several turns, is then not
 * behind a piece of each of a thousand streams in every one of them.
 */
export class LoopShare {
  readonly #bytesMax: number;
  readonly #waiting: Waiting[] = [];
  #left: number;
  #isScheduled = false;

  constructor(bytesMax = BYTES_MAX) {
    this.#bytesMax = bytesMax;
    this.#left = bytesMax;
  }

  /**
   * @param resume called in a later turn, once; says whether it passed the bytes on, or nothing waits for them any more
   * @returns whether the bytes may be passed on in this turn; `resume` is not called then
   */
  take(bytes: number, resume: () => boolean): boolean {
    if (bytes < COUNTED_BYTES) return true;
    this.#schedule();
    if (this.#left <= 0 || this.#waiting.length > 0) {
      this.#waiting.push({ bytes, resume });
      return false;
    }
    this.#left -= bytes;
    return true;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isScheduled = false;
    this.#left = this.#bytesMax;
    let count = 0;
    for (const { bytes, resume } of this.#waiting) {
      if (this.#left <= 0) break;
      count++;
      if (resume()) this.#left -= bytes;
    }
    this.#waiting.splice(0, count);
    if (this.#waiting.length > 0) this.#schedule();
  }
}
