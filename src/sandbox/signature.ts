import { createHmac, timingSafeEqual } from 'node:crypto';

// Not a secret: it only distinguishes a signature of the sandbox from a made-up or damaged one.
const KEY = 'model-gateway sandbox';
const MAC_BYTES = 16;

/**
 * Signs a thinking block. The signature carries the thinking itself, as a vendor's encrypted one does, so that a block
 * whose text was omitted can be verified too.
 */
export function signThinking(thinking: string): string {
  const text = Buffer.from(thinking, 'utf8');
  return Buffer.concat([macOf(text), text]).toString('base64');
}

/** Whether the sandbox signed this thinking, or omitted its text and signed that. */
export function isThinkingSigned(thinking: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64');
  if (bytes.length < MAC_BYTES || bytes.toString('base64') !== signature) return false;
  const text = bytes.subarray(MAC_BYTES);
  if (!timingSafeEqual(macOf(text), bytes.subarray(0, MAC_BYTES))) return false;
  return thinking === '' || text.toString('utf8') === thinking;
}

function macOf(text: Buffer): Buffer {
  return createHmac('sha256', KEY).update(text).digest().subarray(0, MAC_BYTES);
}
