import { VaultError, type VaultScope } from '../canonical/vault-reference.ts';
import { createReadThroughCache } from '../lib/cache/read-through-cache.ts';
import type { Clock } from '../lib/clock.ts';
import { SecretBoxError, type SecretBox } from '../lib/secret-box.ts';
import type { VaultSecretRow } from '../store/vault/columns.ts';
import type { VaultSecretStore } from '../store/vault/vault-secrets.ts';
import { ValueStoreError, type ValueStore } from './back-ends/contract.ts';

/** A change by another process takes effect after this, if no invalidation bus reports it before. @spec vault-8 */
const FRESH_MS = 5_000;
/** So long a value serves while the database does not answer. */
const STALE_MS_MAX = 5 * 60_000;
const READ_MS_MAX = 5_000;
/** A change at a store outside takes effect after this. @spec vault-22 */
const OUTSIDE_FRESH_MS = 60_000;
const OUTSIDE_READ_MS_MAX = 15_000;
/** Opened secrets in memory. */
const OPEN_MAX = 1_000;
export interface OpenSecret {
  readonly hosts: VaultSecretRow['hosts'];
  readonly value: string;
}

/** As it is stored: its value, or where that is outside of the gateway. */
type StoredSecret = Pick<OpenSecret, 'hosts'> & ({ readonly value: string } | { readonly external: string });

export interface SecretFinderDeps {
  readonly store: Pick<VaultSecretStore, 'find' | 'subscribe'>;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  /** Absent: all values are in the database. */
  readonly outside?: ValueStore | undefined;
}

/** Finds a secret with its value, which stays in memory for a moment. @throws VaultError */
export type FindSecret = (scope: VaultScope, name: string) => Promise<OpenSecret>;

export function createSecretFinder(deps: SecretFinderDeps): FindSecret {
  const { store, clock } = deps;
  const cache = createReadThroughCache<StoredSecret | undefined>({
    read: (key) => readSecret(deps, key),
    nowMs: clock.monotonicMs,
    freshMs: FRESH_MS,
    staleMsMax: STALE_MS_MAX,
    readMsMax: READ_MS_MAX,
    entriesMax: OPEN_MAX,
    negative: { freshMs: FRESH_MS, entriesMax: OPEN_MAX },
  });
  const outside = createReadThroughCache<string | undefined>({
    read: (place) => readOutside(deps.outside, place),
    nowMs: clock.monotonicMs,
    freshMs: OUTSIDE_FRESH_MS,
    staleMsMax: STALE_MS_MAX,
    readMsMax: OUTSIDE_READ_MS_MAX,
    entriesMax: OPEN_MAX,
    negative: { freshMs: FRESH_MS, entriesMax: OPEN_MAX },
  });
  store.subscribe(
    () => [cache, outside].forEach((each) => each.invalidate()),
    () => [cache, outside].forEach((each) => each.markStale()),
  );
  return async (scope, name) => {
    const found = await readOr(name, () => cache.get(`${scope.kind}:${scope.id}:${name}`));
    if (found === undefined)
      throw new VaultError('credential_missing', `There is no secret "${name}" in the vault of ${nameOf(scope)}.`);
    if ('value' in found) return found;
    const value = await readOr(name, () => outside.get(found.external));
    if (value === undefined)
      throw new VaultError(
        'credential_missing',
        `The secret "${name}" of the vault has no value at its place in the back end ${kindOf(found.external)}.`,
      );
    return { hosts: found.hosts, value };
  };
}

/** Makes the purpose that a value is sealed for: it does not open in another scope, or under another name. */
export function vaultPurpose(scope: VaultScope, name: string): string {
  return `vault:${scope.kind}:${scope.id}:${name}`;
}

async function readSecret({ store, box }: SecretFinderDeps, key: string): Promise<StoredSecret | undefined> {
  const [kind, id = '', name = ''] = key.split(':');
  const scope: VaultScope = { kind: kind === 'operator' ? 'operator' : 'workspace', id };
  const row = await store.find(scope, name);
  if (row === undefined) return undefined;
  if (row.external !== null) return { hosts: row.hosts, external: row.external };
  if (row.sealed === null) throw new VaultError('vault_unavailable', `The vault has no value for "${name}".`);
  return { hosts: row.hosts, value: (await box()).open(row.sealed, vaultPurpose(scope, name)) };
}

/** @param external `hashicorp:team/alpha#key` @throws ValueStoreError */
async function readOutside(store: ValueStore | undefined, external: string): Promise<string | undefined> {
  const kind = kindOf(external);
  if (store?.kind !== kind) throw new ValueStoreError(`is not named by vault.backend: ${kind} is where the value is`);
  return store.get(external.slice(kind.length + 1));
}

/** @throws VaultError that says why a secret cannot be had */
async function readOr<Value>(name: string, read: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof VaultError) throw error;
    throw new VaultError('vault_unavailable', `The secret "${name}" of the vault cannot be read: ${whyNot(error)}.`, {
      cause: error,
    });
  }
}

function whyNot(error: unknown): string {
  if (error instanceof SecretBoxError) return 'what sealed it is gone; store it again';
  if (error instanceof ValueStoreError) return `the back end ${error.message}`;
  return 'the store does not answer';
}

/** Of `hashicorp:team/alpha#key` the first word. */
export function kindOf(external: string): string {
  return external.slice(0, external.indexOf(':'));
}

function nameOf({ kind }: VaultScope): string {
  return `the ${kind}`;
}
