import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { Clock } from '../../lib/clock.ts';
import { createReadThroughCache } from '../../lib/cache/read-through-cache.ts';
import type { ByokKeyRow } from '../../resources/byok-keys.ts';
import type { ByokKeyStore } from '../../store/accounts/byok-keys.ts';
import type { Principal } from '../principal.ts';
import type { Secrets } from './secrets.ts';

/** Most credentials that an account may have. All of them are in memory, sealed. */
export const BYOK_KEYS_MAX = 1_000;

/** A credential that may be used, without what is secret of it. */
export type UsableCredential = Pick<ByokKeyRow, 'id' | 'label' | 'isFallback' | 'alwaysUse'>;

/** The credentials that match at an endpoint, in the order to use them. */
export type CredentialsAt = (endpoint: Pick<Endpoint, 'provider' | 'model'>) => readonly UsableCredential[];

type RequestOwner = Pick<Principal, 'keyHash' | 'workspaceId' | 'memberId'>;

/** The account's own credentials of providers, as requests use them. */
export interface ByokCredentials {
  /**
   * Those that this caller may use: at once when they were read a moment ago, else a promise.
   * @throws GatewayError 503 when they cannot be read; thrown or as a rejection, in the same way
   */
  of(principal: RequestOwner): CredentialsAt | Promise<CredentialsAt>;
  /** One as it was last read. Sealed. */
  find(id: string): ByokKeyRow | undefined;
  /** @throws SecretBoxError */
  open(row: ByokKeyRow): Promise<string>;
  /** Another process changed some. */
  forget(): void;
}

/** A change by another process counts after this. */
const FRESH_MS = 5_000;
/** As long as keys do: @spec byok-17. */
const STALE_MS_MAX = 10 * 60_000;
const READ_MS_MAX = 1_000;

type ByProvider = ReadonlyMap<string, readonly ByokKeyRow[]>;

const UNOWNED: CredentialsAt = () => [];

export function createByokCredentials(parts: {
  readonly store: Pick<ByokKeyStore, 'all' | 'subscribe'>;
  readonly secrets: Pick<Secrets, 'box'>;
  readonly clock: Clock;
  /** Told, before anybody is, for which providers there are credentials. */
  readonly onRead: (providers: Iterable<string>) => Promise<void>;
  /** The slug of a model, whichever of its names is used; an unknown name is its own. */
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
      // By now the catalog knows what they are for.
      return Map.groupBy(
        enabled.map((row) => withSlugs(row, slugOf)),
        ({ provider }) => provider,
      );
    },
    nowMs: () => clock.monotonicMs(),
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
      return known.then((found) => matching(found, principal), cannotRead);
    },
    find: (id) => rows.get(id),
    async open(row) {
      return (await secrets.box()).open(row.sealed, purposeOf(row));
    },
    forget: () => values.invalidate(),
  };
}

/** What a credential is sealed for: moved to another row or another provider it does not open. */
export function purposeOf({ id, provider }: Pick<ByokKeyRow, 'id' | 'provider'>): string {
  return `byok:${id}:${provider}`;
}

function matching(byProvider: ByProvider, principal: RequestOwner): CredentialsAt {
  if (byProvider.size === 0) return UNOWNED;
  return ({ provider, model }) =>
    byProvider.get(provider)?.filter((row) => isFor(row, principal) && isIn(row.allowedModels, model)) ?? [];
}

/** Endpoints have the slug: a permanent name or an alias in the filter would close the credential without a word. */
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

/** Going on without them would spend the account's credit where its own credential was to be used. */
function cannotRead(cause: unknown): never {
  throw new GatewayError('provider_overloaded', 'Credentials cannot be read at the moment. Try again.', {
    retryAfterMs: 1_000,
    cause,
  });
}
