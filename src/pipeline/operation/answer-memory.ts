import type { ByteBudget } from '../../lib/memory/byte-budget.ts';
import { GrowingBytes } from '../../lib/memory/growing-bytes.ts';
import { createWholeResponseMemory, NoResponseRoom, ResponseRoom } from '../response/whole-response-budget.ts';

/**
 * What the large answers of one candidate take of the memory for all of them: from the first of its bytes until the caller
 * has the last, or until the candidate has failed. A class because it lives as long as they do.
 */
export class AnswerMemory {
  readonly #memory: ByteBudget;
  readonly #rooms: { close(): void }[] = [];

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

  /**
   * Memory of answers that are needed together, taken at once: requests that each had that of some of theirs would wait for
   * each other. What one of them needs beyond that is taken of the shared memory.
   * @param bytes as many as there are in all, where that is less
   * @throws NoResponseRoom
   */
  async reserve(bytes: number, signal: AbortSignal): Promise<AnswerMemory> {
    const shared = this.#memory;
    const { bytesMax } = shared;
    const own = createWholeResponseMemory(Math.min(bytes, bytesMax));
    const taken = await shared.take(own.bytesMax, signal);
    if (taken === undefined) throw new NoResponseRoom();
    const memory = new AnswerMemory({
      bytesMax,
      get taken() {
        return own.taken;
      },
      // Where all of it is taken here, nothing is left beyond it.
      take: (wanted, end) =>
        (own.bytesMax === bytesMax || own.taken + wanted <= own.bytesMax ? own : shared).take(wanted, end),
    });
    this.#rooms.push(memory, { close: () => taken.shrink(0) });
    return memory;
  }

  close(): void {
    for (const room of this.#rooms.splice(0)) room.close();
  }
}
