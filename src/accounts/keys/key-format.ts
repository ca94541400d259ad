import { hash } from 'node:crypto';
import { randomText } from '../../lib/ids.ts';
import { maskText } from '../../lib/text/mask-text.ts';
import type { Principal } from '../principal.ts';

const PREFIX: Readonly<Record<Principal['kind'], string>> = { normal: 'mgw-', management: 'mgw-mgmt-' };
/** 238 bits. */
const RANDOM_CHARS = 40;

/** Makes a new key. It exists here and in the one response that shows it, and nowhere else. */
export function newKey(kind: Principal['kind']): string {
  return PREFIX[kind] + randomText(RANDOM_CHARS);
}

/**
 * Makes the digest that stands for a key everywhere: the SHA-256 of all of it, 64 lower-case hex digits. @spec auth-10
 */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

export function isKeyHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/**
 * Makes the redacted excerpt by which a person recognises a key: `mgw-Ab3...x9Zq`. A key that the operator chose may be
 * short; it shows its last characters only if it is long enough.
 */
export function labelKey(key: string): string {
  const prefix = [PREFIX.management, PREFIX.normal].find((known) => key.startsWith(known)) ?? '';
  return prefix + maskText(key.slice(prefix.length));
}
