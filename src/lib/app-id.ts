import { createHash } from 'node:crypto';

const ID_BYTES = 6;

/** The number by which an application is known: always the same one for an address. Below 2^48, so that every client keeps it exactly. */
export function appIdOf(url: string): number {
  return createHash('sha256').update(url).digest().readUIntBE(0, ID_BYTES);
}
