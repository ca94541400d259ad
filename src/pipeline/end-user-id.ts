import { hash } from 'node:crypto';
import { setBounded } from '../lib/bounded-map.ts';

const END_USERS_MAX = 1_000;
const known = new Map<string, string>();

/** The only form in which an end user's id leaves; the account's own when there is none. @source seed 2.1 `user` */
export function hashEndUser(accountId: string, user: string | undefined): string {
  const identity = `${accountId}\0${user ?? ''}`;
  const before = known.get(identity);
  if (before !== undefined) return before;
  const hashed = hash('sha256', identity, 'hex');
  setBounded(known, identity, hashed, END_USERS_MAX);
  return hashed;
}
