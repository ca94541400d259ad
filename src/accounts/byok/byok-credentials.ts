import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { Clock } from '../../lib/clock.ts';
import { createReadThroughCache } from '../../lib/cache/read-through-cache.ts';
import type { ByokKeyRow } from '../../resources/byok-keys.ts';
import type { ByokKeyStore } from '../../store/accounts/byok-keys.ts';
import type { Principal } from '../principal.ts';
import type { Secrets } from './secrets.ts';

/** The number of credentials that an account may have. All of them are in memory, sealed. */
export const BYOK_KEYS_MAX = 1_000;

/** A usable credential without its secret. */
export type UsableCredential = Pick<ByokKeyRow, 'id' | 'label' | 'isFallback' | 'alwaysUse'>;

/** The credentials that match an endpoint, in the order to use them. */
export type CredentialsAt = (endpoint: Pick<Endpoint, 'provider' | 'model'>) => readonly UsableCredential[];

type RequestOwner = Pick<Principal, 'keyHash' | 'workspaceId' | 'memberId'>;

/** The account's own credentials of providers, as requests use them. */
export interface ByokCredentials {
  /**
   * Returns the credentials that this caller may use: at once when they were read a moment ago, else as a promise.
   * @throws GatewayError 503 when they cannot be read; thrown or as a rejection, in the same way
   */
  of(principal: RequestOwner): CredentialsAt | Promise<CredentialsAt>;
  /** Returns a credential as it was last read, sealed. */
  find(id: string): ByokKeyRow | undefined;
  /** @throws SecretBoxError */
  open(row: ByokKeyRow): Promise<string>;
  /** Drops what was read: another process changed a credential. */
  forget(): void;
}

/** A change by another process takes effect after this. */
const FRESH_MS = 5_000;
/** As long as for keys: @spec byok-17. */
const STALE_MS_MAX = 10 * 60_000;
const READ_MS_MAX = 1_000;

type ByProvider = ReadonlyMap<string, readonly ByokKeyRow[]>;

const UNOWNED: CredentialsAt = () => [];

export function createByokCredentials(parts: {
  readonly store: Pick<ByokKeyStore, 'all' | 'subscribe'>;
  readonly secrets: Pick<Secrets, 'box'>;
  readonly clock: Clock;
  /** Runs with the providers that have credentials, before any caller gets the credentials. */
  readonly onRead: (providers: Iterable<string>) => Promise<void>;
  /** Finds the slug of a model by any of its names; an unknown name is its own slug. */
  readonly slugOf: (model: string) => string;
}): ByokCredentials {
  const { store, secrets, clock, onRead, slugOf } = parts;
  let rows: ReadonlyMap<string, ByokKeyRow> = new Map();
  const values = createReadThroughCache<ByProvider>({
    async read() {
      const all = await store.all(BYOK_KEYS_MAX);
      rows = new Map(all.map((row) => [row.id, row]));
      const enabled = all.filter(({ disabled }) => !disabled);
      await onRead(new Set(enabled.map(({ provider }) => provider)));
      // After `onRead` the catalog knows every provider of a credential.
      return Map.groupBy(
        enabled.map((row) => withSlugs(row, slugOf)),
        ({ provider }) => provider,
      );
    },
    nowMs: clock.monotonicMs,
    freshMs: FRESH_MS,
    staleMsMax: STALE_MS_MAX,
    readMsMax: READ_MS_MAX,
    entriesMax: 1,
  });
  store.subscribe(
    () => values.invalidate(),
    () => values.markStale(),
  );
  return {
    of(principal) {
      const known = values.get('');
      if (!(known instanceof Promise)) return matching(known, principal);
      return known.then((found) => matching(found, principal), throwCannotRead);
    },
    find: (id) => rows.get(id),
    async open(row) {
      return (await secrets.box()).open(row.sealed, purposeOf(row));
    },
    forget: () => values.invalidate(),
  };
}

/**
 * Makes the purpose that a credential is sealed for: it does not open when it is moved to another row or another
 * provider.
 */
export function purposeOf({ id, provider }: Pick<ByokKeyRow, 'id' | 'provider'>): string {
  return `byok:${id}:${provider}`;
}

function matching(byProvider: ByProvider, principal: RequestOwner): CredentialsAt {
  if (byProvider.size === 0) return UNOWNED;
  return ({ provider, model }) =>
    byProvider.get(provider)?.filter((row) => isFor(row, principal) && isIn(row.allowedModels, model)) ?? [];
}

/**
 * Replaces model names by slugs, which endpoints have: with a permanent name or an alias in its filter, a credential
 * would silently match nothing.
 */
function withSlugs(row: ByokKeyRow, slugOf: (model: string) => string): ByokKeyRow {
  return row.allowedModels === null ? row : { ...row, allowedModels: row.allowedModels.map(slugOf) };
}

/** @spec byok-6 */
function isFor({ workspaceId, allowedApiKeyHashes, allowedUserIds }: ByokKeyRow, principal: RequestOwner): boolean {
  if (workspaceId !== null && workspaceId !== principal.workspaceId) return false;
  return isIn(allowedApiKeyHashes, principal.keyHash) && isIn(allowedUserIds, principal.memberId);
}

function isIn(list: readonly string[] | null, value: string | null): boolean {
  return list === null || (value !== null && list.includes(value));
}

/** Fails the request: without its credentials it would spend the account's credit instead. */
function throwCannotRead(cause: unknown): never {
  throw new GatewayError('provider_overloaded', 'Credentials cannot be read at the moment. Try again.', {
    retryAfterMs: 1_000,
    cause,
  });
}
