/** Bytes that base64 takes together. */
const GROUP_BYTES = 3;

/**
 * Sound that comes in pieces, each with base64 of its own, as pieces that can be put together: only at whole groups of
 * bytes does the text of one end where the next begins.
 */
export class AudioPieces {
  #rest: Buffer = Buffer.alloc(0);

  /** What of the sound so far can be written. */
  add(base64: string): string {
    const bytes = Buffer.concat([this.#rest, Buffer.from(base64, 'base64')]);
    const whole = bytes.length - (bytes.length % GROUP_BYTES);
    this.#rest = bytes.subarray(whole);
    return bytes.subarray(0, whole).toString('base64');
  }

  /** What is left at the end. */
  end(): string {
    const rest = this.#rest.toString('base64');
    this.#rest = Buffer.alloc(0);
    return rest;
  }
}
