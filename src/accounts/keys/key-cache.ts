import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import { createReadThroughCache } from '../../lib/cache/read-through-cache.ts';
import type { KeyRow } from '../../resources/keys.ts';
import type { KeyStore } from '../../store/accounts/keys.ts';
import { DEFAULT_ACCOUNT_ID, type Principal } from '../principal.ts';
import { spendLimitOf } from '../limits/spend-limit.ts';

/** The facts of a key that admission needs. */
export interface KnownKey {
  readonly principal: Principal;
  readonly disabled: boolean;
  readonly expiresAtMs: number | null;
}

export interface KeyCache {
  /** Returns the key with this digest, `undefined` for none: at once when it is fresh, else as a promise. */
  look(keyHash: string): KnownKey | undefined | Promise<KnownKey | undefined>;
}

/** A change by another process that was not announced, or whose announcement was lost, takes effect after this. */
const FRESH_MS = 5_000;
/** How long a digest that is no key stays out of the database. @spec auth-15 */
const UNKNOWN_FRESH_MS = 30_000;
/** While the database is away or overloaded, a valid key goes on working for so long. @spec auth-16 */
const STALE_MS_MAX = 10 * 60_000;
/** A database that does not answer within this time is away. */
const LOOKUP_MS_MAX = 1_000;
const KNOWN_MAX = 10_000;
const UNKNOWN_MAX = 10_000;

/**
 * Caches recent keys by digest. Concurrent requests share one read, unknown digests are remembered too, and a change
 * takes effect at once, made by this process or, where processes announce changes, by another.
 */
export function createKeyCache(keys: Pick<KeyStore, 'find' | 'subscribe'>, clock: Clock): KeyCache {
  const values = createReadThroughCache<KnownKey | undefined>({
    async read(keyHash) {
      const row = await keys.find(keyHash);
      return row && knownKey(row);
    },
    nowMs: clock.monotonicMs,
    freshMs: FRESH_MS,
    staleMsMax: STALE_MS_MAX,
    readMsMax: LOOKUP_MS_MAX,
    entriesMax: KNOWN_MAX,
    negative: { freshMs: UNKNOWN_FRESH_MS, entriesMax: UNKNOWN_MAX },
  });
  keys.subscribe(
    (keyHash) => values.invalidate(keyHash),
    () => values.markStale(),
  );
  return {
    look(keyHash) {
      const key = values.get(keyHash);
      return key instanceof Promise ? key.catch(throwCannotCheck) : key;
    },
  };
}

function knownKey(row: KeyRow): KnownKey {
  const principal: Principal = {
    kind: row.kind,
    keyHash: row.hash,
    accountId: DEFAULT_ACCOUNT_ID,
    workspaceId: row.workspaceId,
    memberId: row.creatorUserId,
    ...(row.rootKeyHash !== null && { rootKeyHash: row.rootKeyHash }),
    ...(row.limitNanoUsd !== null && { spendLimit: spendLimitOf('key', row.hash, row.limitNanoUsd, row) }),
    name: row.name,
    label: row.label,
  };
  return { principal, disabled: row.disabled, expiresAtMs: row.expiresAtMs };
}

function throwCannotCheck(cause: unknown): never {
  throw new GatewayError('provider_overloaded', 'The API key cannot be checked at the moment. Try again.', {
    retryAfterMs: 1_000,
    cause,
  });
}
