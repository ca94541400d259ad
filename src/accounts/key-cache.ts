import { GatewayError } from '../canonical/gateway-error.ts';
import type { Clock } from '../lib/clock.ts';
import type { KeyRow, KeyStore } from '../store/keys.ts';
import { DEFAULT_ACCOUNT_ID, type Principal } from './principal.ts';
import type { SpendLimit } from './spend-limit.ts';

/** What must be known of a key to admit a request. */
export interface KnownKey {
  readonly principal: Principal;
  readonly disabled: boolean;
  readonly expiresAtMs: number | null;
}

export interface KeyCache {
  /** The key with this digest, `undefined` for none: at once when it is fresh, else a promise. */
  look(keyHash: string): KnownKey | undefined | Promise<KnownKey | undefined>;
}

/** A change by another process that was not announced, or whose news were lost, counts after this. */
const FRESH_MS = 5_000;
/** So long before the end of that time a key in use is read again: its requests never wait for the database. */
const REFRESH_MS = 2_500;
/** How long a digest that is no key stays out of the database. @source pains.md 4 "key floods" */
const UNKNOWN_FRESH_MS = 30_000;
/** While the database is away a key that was good goes on working for so long. @source pains.md 30 */
const STALE_MS_MAX = 10 * 60_000;
/** A database that does not answer within this time is away. */
const LOOKUP_MS_MAX = 1_000;
const KNOWN_MAX = 10_000;
const UNKNOWN_MAX = 10_000;
const LOOKUPS_MAX = 4_096;

interface Entry {
  readonly key: KnownKey;
  readonly readAtMs: number;
  /** Put off while the database is away. */
  freshUntilMs: number;
}

interface Lookup {
  readonly promise: Promise<KnownKey | undefined>;
  /** The key was changed while it was being read: what was read may be from before. */
  outdated: boolean;
}

/**
 * Keys that were seen lately, by digest. Concurrent requests share one read, unknown digests are remembered too, and a
 * change counts at once, by this process or, where processes tell each other, by another.
 */
export function createKeyCache(keys: Pick<KeyStore, 'find' | 'subscribe'>, clock: Clock): KeyCache {
  const known = new Map<string, Entry>();
  const unknown = new Map<string, number>();
  const lookups = new Map<string, Lookup>();

  keys.subscribe(
    (keyHash) => {
      known.delete(keyHash);
      unknown.delete(keyHash);
      const lookup = lookups.get(keyHash);
      if (lookup !== undefined) lookup.outdated = true;
      lookups.delete(keyHash);
    },
    () => outdateAll(known, unknown, lookups),
  );

  function remember(keyHash: string, key: KnownKey | undefined): void {
    const nowMs = clock.monotonicMs();
    // Deleting first moves the digest to the young end, so that the oldest goes when there is no room.
    known.delete(keyHash);
    unknown.delete(keyHash);
    if (key === undefined) setBounded(unknown, keyHash, nowMs + UNKNOWN_FRESH_MS, UNKNOWN_MAX);
    else setBounded(known, keyHash, { key, readAtMs: nowMs, freshUntilMs: nowMs + FRESH_MS }, KNOWN_MAX);
  }

  function keepStale(keyHash: string, cause: unknown): KnownKey {
    const nowMs = clock.monotonicMs();
    const entry = known.get(keyHash);
    if (entry === undefined || nowMs - entry.readAtMs > STALE_MS_MAX)
      throw cannotCheck('The API key cannot be checked at the moment. Try again.', cause);
    entry.freshUntilMs = nowMs + FRESH_MS;
    return entry.key;
  }

  async function read(keyHash: string, isOutdated: () => boolean): Promise<KnownKey | undefined> {
    let row: KeyRow | undefined;
    try {
      row = await withinLimit(keys.find(keyHash));
    } catch (error) {
      return keepStale(keyHash, error);
    }
    const key = row && knownKey(row);
    if (!isOutdated()) remember(keyHash, key);
    return key;
  }

  function lookUp(keyHash: string): Promise<KnownKey | undefined> {
    const running = lookups.get(keyHash);
    if (running !== undefined) return running.promise;
    if (lookups.size >= LOOKUPS_MAX)
      return Promise.reject(cannotCheck('Too many API keys are being checked at the moment. Try again.', undefined));
    const lookup: Lookup = {
      promise: read(keyHash, () => lookup.outdated).finally(() => {
        if (lookups.get(keyHash) === lookup) lookups.delete(keyHash);
      }),
      outdated: false,
    };
    lookups.set(keyHash, lookup);
    return lookup.promise;
  }

  return {
    look(keyHash) {
      const nowMs = clock.monotonicMs();
      const entry = known.get(keyHash);
      if (entry !== undefined && nowMs < entry.freshUntilMs) {
        // A failure is not lost: the next request after the entry's time reads again and reports it.
        if (nowMs >= entry.freshUntilMs - REFRESH_MS) lookUp(keyHash).catch(() => undefined);
        return entry.key;
      }
      if (entry === undefined && nowMs < (unknown.get(keyHash) ?? 0)) return undefined;
      return lookUp(keyHash);
    },
  };
}

/** Keys are kept, for a database that is away, but read again before they count. */
function outdateAll(
  known: ReadonlyMap<string, Entry>,
  unknown: Map<string, number>,
  lookups: Map<string, Lookup>,
): void {
  for (const entry of known.values()) entry.freshUntilMs = -Infinity;
  unknown.clear();
  for (const lookup of lookups.values()) lookup.outdated = true;
  lookups.clear();
}

function knownKey(row: KeyRow): KnownKey {
  const principal: Principal = {
    kind: row.kind,
    keyHash: row.hash,
    accountId: DEFAULT_ACCOUNT_ID,
    workspaceId: row.workspaceId,
    memberId: row.creatorUserId,
    ...(row.limitNanoUsd !== null && { spendLimit: limitOf(row, row.limitNanoUsd) }),
    name: row.name,
    label: row.label,
  };
  return { principal, disabled: row.disabled, expiresAtMs: row.expiresAtMs };
}

function limitOf(row: KeyRow, limitNanoUsd: number): SpendLimit {
  const { hash, limitReset: reset, includeByokInLimit: includesByok } = row;
  return { subject: `key:${hash}`, kind: 'key', limitNanoUsd, reset, includesByok };
}

function setBounded<Value>(map: Map<string, Value>, name: string, value: Value, max: number): void {
  if (map.size >= max) {
    const [oldest] = map.keys();
    if (oldest !== undefined) map.delete(oldest);
  }
  map.set(name, value);
}

async function withinLimit<Value>(promise: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${LOOKUP_MS_MAX} ms.`)), LOOKUP_MS_MAX);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

function cannotCheck(message: string, cause: unknown): GatewayError {
  return new GatewayError('provider_overloaded', message, { retryAfterMs: 1_000, cause });
}
