/** Before a blob that is not text: base64 as it came. */
const BINARY = 'data:application/octet-stream;base64,';
const PRINTABLE = /^[\x20-\x7e]+$/;

/**
 * Encrypted reasoning out of the blob of this format. The blob holds, letter for letter, what the model's vendor itself
 * calls `data` (seen in recorded responses of Claude 3.7, 2025), so it is kept as that: then the block can go on at either.
 * @param blob base64
 */
export function decodeRedacted(blob: string): string {
  const text = Buffer.from(blob, 'base64').toString('latin1');
  const comesBack = PRINTABLE.test(text) && !text.startsWith(BINARY) && encodeRedacted(text) === blob;
  return comesBack ? text : BINARY + blob;
}

/** The inverse of `decodeRedacted`: the same bytes. */
export function encodeRedacted(text: string): string {
  return text.startsWith(BINARY) ? text.slice(BINARY.length) : Buffer.from(text, 'utf8').toString('base64');
}

/** One base64 text out of several, each of which ends with its own padding. */
export function joinBase64(pieces: readonly string[]): string {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1) return only;
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64'))).toString('base64');
}
