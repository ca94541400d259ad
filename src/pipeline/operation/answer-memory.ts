import type { ByteBudget } from '../../lib/memory/byte-budget.ts';
import { GrowingBytes } from '../../lib/memory/growing-bytes.ts';
import { ResponseRoom } from '../response/whole-response-budget.ts';

/**
 * What the large answers of one candidate take of the memory for all of them: from the first of its bytes until the caller
 * has the last, or until the candidate has failed. A class because it lives as long as they do.
 */
export class AnswerMemory {
  readonly #memory: ByteBudget;
  readonly #rooms: (ResponseRoom | GrowingBytes)[] = [];

  constructor(memory: ByteBudget) {
    this.#memory = memory;
  }

  /**
   * @param copies how often its bytes exist at most; absent: as text and parsed, too
   * @param expectedBytes how long it is where it does not say so; absent: as long as it may be
   */
  open(copies?: number, expectedBytes?: number): ResponseRoom {
    const room = new ResponseRoom(this.#memory, copies, expectedBytes);
    this.#rooms.push(room);
    return room;
  }

  /** For what is no answer of the candidate's own: it takes more as it comes. @param signal ends its waits */
  grow(signal: AbortSignal): GrowingBytes {
    const bytes = new GrowingBytes(this.#memory, signal);
    this.#rooms.push(bytes);
    return bytes;
  }

  close(): void {
    for (const room of this.#rooms.splice(0)) room.close();
  }
}
