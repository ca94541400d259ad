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
 * The public id of one generation: `gen-`, the millisecond it was made, and 119 random bits. Equals the answer's `id` and
 * the `X-Generation-Id` header. Ids grow with time so that the indexes over them grow at one end: where only the second
 * was in order, the rows of one second lay on pages of their own, and storing them took half as long again.
 * @param nowMs Unix ms
 */
export function newGenerationId(nowMs: number): string {
  return `gen-${Math.floor(nowMs)}-${randomText(20)}`;
}
