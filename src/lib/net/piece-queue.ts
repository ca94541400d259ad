/** The pieces of a response that wait for their reader, in order. */
export class PieceQueue {
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  push(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  /** Takes the first bytes in one piece: all of them, or at most so many. The queue must not be empty. */
  take(bytesMax: number): Uint8Array {
    const taken = this.#bytes <= bytesMax ? this.#takeAll() : this.#takeFirst(bytesMax);
    const [first] = taken;
    return taken.length === 1 && first !== undefined ? first : Buffer.concat(taken);
  }

  /** Copies the pieces into one: each of them is a view of all that was read from the socket with it, and keeps that. */
  compact(): void {
    this.#pieces = [Buffer.concat(this.#pieces)];
  }

  clear(): void {
    this.#takeAll();
  }

  #takeAll(): Uint8Array[] {
    const taken = this.#pieces;
    this.#pieces = [];
    this.#bytes = 0;
    return taken;
  }

  /** A first piece that is too large is divided. */
  #takeFirst(bytesMax: number): Uint8Array[] {
    const taken: Uint8Array[] = [];
    let bytes = 0;
    for (const piece of this.#pieces) {
      if (bytes + piece.length > bytesMax) break;
      bytes += piece.length;
      taken.push(piece);
    }
    this.#pieces.splice(0, taken.length);
    const [next] = this.#pieces;
    if (taken.length === 0 && next !== undefined) {
      bytes = bytesMax;
      taken.push(next.subarray(0, bytes));
      this.#pieces[0] = next.subarray(bytes);
    }
    this.#bytes -= bytes;
    return taken;
  }
}
