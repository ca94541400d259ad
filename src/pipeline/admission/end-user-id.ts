import { hash } from 'node:crypto';
import { createLruCache } from '../../lib/cache/lru-cache.ts';

const END_USERS_MAX = 1_000;
const known = createLruCache<string, string>(END_USERS_MAX);

/** The only form in which an end user's id leaves; the account's own when there is none. @spec request-20 */
export function hashEndUser(accountId: string, user: string | undefined): string {
  const identity = `${accountId}\0${user ?? ''}`;
  const before = known.get(identity);
  if (before !== undefined) return before;
  const hashed = hash('sha256', identity, 'hex');
  known.set(identity, hashed);
  return hashed;
}
