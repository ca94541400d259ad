import { createHash } from 'node:crypto';

const MILLION = 1_000_000;

/** Whether a name is among so many of a million: always the same answer for a name. */
export function isSampled(name: string, ofMillion: number): boolean {
  if (ofMillion >= MILLION) return true;
  return createHash('sha256').update(name).digest().readUInt32BE() % MILLION < ofMillion;
}
