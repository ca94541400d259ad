import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import { createByteBudget, type ByteBudget, type BytesTaken } from '../../lib/memory/byte-budget.ts';

/** Smaller answers are so many as there are requests. */
export const LARGE_ANSWER_BYTES = 262_144;
/** As bytes, as text, parsed, and as it goes to the caller. */
const COPIES = 4;
const WAIT_MS = 60_000;
const WAITING_MAX = 256;
const RETRY_AFTER_MS = 5_000;

/** What large whole answers of all requests together may take. */
export function createWholeResponseMemory(bytesMax: number): ByteBudget {
  return createByteBudget({ bytesMax, waitMs: WAIT_MS, waitingMax: WAITING_MAX });
}

/** An answer found no memory in time. */
export class NoResponseRoom extends Error {}

export const NO_ANSWER_ROOM: UpstreamFailure = {
  kind: 'unsayable',
  errorType: 'provider_overloaded',
  status: 503,
  mayTry: 'nothing',
  retryAfterMs: RETRY_AFTER_MS,
  message: 'The gateway has no memory left for a response of this size. Try again later, or request a stream.',
};

/** The memory that the large answer of one turn takes, until the turn is over. */
export class ResponseRoom {
  readonly #memory: ByteBudget;
  readonly #copies: number;
  readonly #taken: BytesTaken[] = [];

  readonly expectedBytes: number;

  /** The largest answer that there is memory for. */
  get bytesMax(): number {
    return Math.floor(this.#memory.bytesMax / this.#copies);
  }

  /**
   * @param copies how often the bytes of an answer exist at most
   * @param expectedBytes how long an answer is that does not say it; absent: as long as the longest
   */
  constructor(memory: ByteBudget, copies = COPIES, expectedBytes = Infinity) {
    this.#memory = memory;
    this.#copies = copies;
    this.expectedBytes = expectedBytes;
  }

  /**
   * Waits for its turn. While it does, the upstream is not read. What an attempt before it took is given back first: its
   * answer failed, and one that may need all the memory there is would wait for itself.
   * @param bytes of the answer as it comes
   * @throws NoResponseRoom
   */
  async take(bytes: number, signal: AbortSignal): Promise<void> {
    this.close();
    const taken = await this.#memory.take(bytes * this.#copies, signal);
    if (taken === undefined) throw new NoResponseRoom();
    this.#taken.push(taken);
  }

  /** All of it is here, and is this long: one that does not say so has taken what the longest may need. */
  fit(bytes: number): void {
    this.shrink(bytes * this.#copies);
  }

  /** So many bytes of it stay. */
  shrink(bytes: number): void {
    for (const taken of this.#taken) taken.shrink(bytes);
  }

  close(): void {
    for (const taken of this.#taken.splice(0)) taken.shrink(0);
  }
}
