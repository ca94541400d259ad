import { hash, randomBytes } from 'node:crypto';

/** 256 bits, in base64url. */
const SECRET_BYTES = 32;
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** A cookie, a token or a link: known to its owner alone, and stored as its digest only. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Whether a text can be a secret: what cannot is not hashed, nor looked up. */
export function isSecret(text: string): boolean {
  return SECRET.test(text);
}

export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}
