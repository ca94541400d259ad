import { assert } from '../assert.ts';

/** The pieces of a response that wait for their reader, in order. */
export class PieceQueue {
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** What the first piece holds; 0: there is none. */
  get firstBytes(): number {
    return this.#pieces[0]?.length ?? 0;
  }

  push(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  /** Takes the first piece, or so much of it at most. The queue must not be empty. */
  take(bytesMax: number): Uint8Array {
    const [first] = this.#pieces;
    assert(first !== undefined, 'there is something to take');
    const taken = first.length > bytesMax ? first.subarray(0, bytesMax) : first;
    if (taken === first) this.#pieces.shift();
    else this.#pieces[0] = first.subarray(bytesMax);
    this.#bytes -= taken.length;
    return taken;
  }

  /** Copies the pieces into one: each of them is a view of all that was read from the socket with it, and keeps that. */
  compact(): void {
    this.#pieces = [Buffer.concat(this.#pieces)];
  }

  clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }
}
