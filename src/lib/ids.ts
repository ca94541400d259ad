import { createHash, randomFillSync } from 'node:crypto';

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

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** In the spelling of those made here: lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Always the same one for a name in a namespace: version 5. @source RFC 9562, 5.5 */
export function uuidOf(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest();
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const APP_ID_BYTES = 6;

/** The number by which an application is known: always the same one for an address. Below 2^48, so that every client keeps it exactly. */
export function appIdOf(url: string): number {
  return createHash('sha256').update(url).digest().readUIntBE(0, APP_ID_BYTES);
}
