import { randomFillSync } from 'node:crypto';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const pool = Buffer.allocUnsafe(8_192);
let next = pool.length;

/** `length` random characters of `[A-Za-z0-9]`, from the system's secure source (5.95 bits each). */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    if (next === pool.length) {
      randomFillSync(pool);
      next = 0;
    }
    const byte = pool.readUInt8(next++);
    // 248 = 4 * 62: bytes above it would favour the first letters.
    if (byte < 248) text += ALPHABET[byte % 62];
  }
  return text;
}

/**
 * The public id of one generation: `gen-`, the second it was made, and 119 random bits. Equals the answer's `id` and the
 * `X-Generation-Id` header. Ids grow with time so that the index over them grows at one end: with random ones every row
 * touched a page of its own, which made up most of the cost of storing it.
 */
export function newGenerationId(nowMs: number): string {
  return `gen-${Math.floor(nowMs / 1_000)}-${randomText(20)}`;
}
