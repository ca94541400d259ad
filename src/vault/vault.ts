import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { VAULT_NAME, VAULT_NAME_CHARS_MAX } from '../canonical/vault-reference.ts';
import { assert } from '../lib/assert.ts';
import type { Clock } from '../lib/clock.ts';
import { SecretBoxError, type SecretBox } from '../lib/secret-box.ts';
import type { Page, PageWindow } from '../store/engine/page.ts';
import type { VaultSecretRow } from '../store/vault/columns.ts';
import type { VaultReleaseFilter, VaultReleaseStore } from '../store/vault/vault-releases.ts';
import type { VaultReleaseRow } from '../store/vault/columns.ts';
import type { VaultScope } from '../canonical/vault-reference.ts';
import type { VaultSecretStore } from '../store/vault/vault-secrets.ts';
import type { ValueStore } from './back-ends/contract.ts';
import { HOSTS_MAX, parseHost } from './hosts.ts';
import { copyValue, placeValue, removeValue, type NewValue, type ValuePlaces } from './place-value.ts';
import { isStale } from './stale.ts';
import { kindOf, vaultPurpose } from './find-secret.ts';

/** Secrets of one scope. @spec vault-1 */
const SECRETS_PER_SCOPE_MAX = 1_000;
/** @spec vault-3 */
export const VALUE_CHARS_MAX = 65_536;
const FINGERPRINT_CHARS = 16;

/** The scope of what the configuration names. No workspace has this id. */
export const OPERATOR_SCOPE: VaultScope = { kind: 'operator', id: 'operator' };

/** A secret as its owners see it. Its value is never shown. */
export interface VaultSecret {
  readonly name: string;
  readonly hosts: readonly string[] | null;
  /** Equal for equal values of one scope; null: the value is outside, or cannot be opened any more. */
  readonly fingerprint: string | null;
  readonly backend: VaultBackend;
  /** Where the value is in a back end outside; null: in the database. */
  readonly external: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Older than `vault.max_age_days`. */
  readonly isStale: boolean;
  readonly lastReleasedAtMs: number | null;
}

export type VaultBackend = 'builtin' | ValueStore['kind'];

export interface NewVaultSecret extends NewValue {
  readonly hosts: readonly string[];
}

export interface Vault {
  list(scope: VaultScope, window: PageWindow): Promise<Page<VaultSecret>>;
  /** @throws GatewayError 404 */
  get(scope: VaultScope, name: string): Promise<VaultSecret>;
  /** Stores a secret, or replaces the one of that name. @throws GatewayError 400, 409 for one too many, 502 when a back end fails, 503 where writes are off */
  put(scope: VaultScope, name: string, secret: NewVaultSecret): Promise<VaultSecret>;
  /**
   * @param force deletes it whatever refers to it
   * @throws GatewayError 404, 409 while something refers to it, 502 when a back end fails, 503 where writes are off
   */
  delete(scope: VaultScope, name: string, force: boolean): Promise<void>;
  /**
   * Copies secrets of one scope into another one with their hosts, all of them or none, where they replace what has their
   * names. Returns them.
   * @throws GatewayError 404 for a name that is not there, 409 for one that is bound to no host or has no value any more,
   * or for one too many, 502 when a back end fails, 503
   */
  copy(from: VaultScope, to: VaultScope, names: readonly string[]): Promise<readonly VaultSecret[]>;
  /** Deletes all secrets of a scope that is no more. */
  removeAll(scope: VaultScope): Promise<void>;
  releases(filter: VaultReleaseFilter): Promise<Page<VaultReleaseRow>>;
  /** Lists what refers to a secret: `providers.alpha.api_key`. */
  referencesTo(scope: VaultScope, name: string): Promise<readonly string[]>;
}

export interface VaultDeps {
  readonly store: VaultSecretStore;
  readonly releases: VaultReleaseStore;
  /** Stores what is counted in memory still. */
  readonly flushReleases: () => Promise<void>;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  readonly settings: {
    readonly writes: boolean;
    readonly allowPrivateHosts: boolean;
    readonly maxAgeMs: number | undefined;
  };
  readonly referencesTo: Vault['referencesTo'];
  /** Absent: all values are sealed in the database. */
  readonly outside?: ValueStore | undefined;
}

export function createVault(deps: VaultDeps): Vault {
  const { store, clock, settings, releases } = deps;
  const places: ValuePlaces = { box: deps.box, outside: deps.outside };

  const serialize = (scope: VaultScope, rows: readonly VaultSecretRow[]) => serializeSecrets(deps, scope, rows);
  const serializeOne = async (scope: VaultScope, row: VaultSecretRow): Promise<VaultSecret> => {
    const [secret] = await serialize(scope, [row]);
    assert(secret !== undefined, 'each row is serialized');
    return secret;
  };
  return {
    async list(scope, window) {
      await deps.flushReleases();
      const { rows, totalCount } = await store.list(scope, window);
      return { rows: await serialize(scope, rows), totalCount };
    },
    async get(scope, name) {
      const row = await store.find(scope, name);
      if (row === undefined) throw unknownSecret(name);
      await deps.flushReleases();
      return serializeOne(scope, row);
    },
    async put(scope, name, { hosts, ...value }) {
      requireWrites(settings.writes);
      checkName(name);
      const bound = checkHosts(hosts, settings.allowPrivateHosts);
      const replaced = await store.find(scope, name);
      if (replaced === undefined && (await store.count(scope)) >= SECRETS_PER_SCOPE_MAX) throw isFull();
      const place = await placeValue(places, scope, name, value);
      const nowMs = clock.nowMs();
      const row = await store.put({
        id: randomUUID(),
        scopeKind: scope.kind,
        scopeId: scope.id,
        name,
        hosts: bound,
        ...place,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      });
      await removeReplaced(store, places, replaced);
      return serializeOne(scope, row);
    },
    async delete(scope, name, force) {
      requireWrites(settings.writes);
      const row = await store.find(scope, name);
      if (row === undefined) throw unknownSecret(name);
      const users = force ? [] : await deps.referencesTo(scope, name);
      if (users.length > 0)
        throw new GatewayError(
          'invalid_request',
          `The secret "${name}" is in use: ${users.join(', ')}. Change them first, or delete it with ?force=true.`,
          { status: 409 },
        );
      // First: one that fails is deleted by a second call.
      await removeValue(places, row);
      if (!(await store.remove(scope, name))) throw unknownSecret(name);
    },
    copy: async (from, to, names) => serialize(to, await copySecrets(deps, places, { from, to, names })),
    removeAll: (scope) => removeSecrets(store, places, scope),
    async releases(filter) {
      await deps.flushReleases();
      return releases.list(filter);
    },
    referencesTo: deps.referencesTo,
  };
}

function isFull(): GatewayError {
  return new GatewayError('invalid_request', `There are ${SECRETS_PER_SCOPE_MAX} secrets already; delete one first.`, {
    status: 409,
  });
}

async function removeSecrets(store: VaultSecretStore, places: ValuePlaces, scope: VaultScope): Promise<void> {
  const { rows } = await store.list(scope, { offset: 0, limit: SECRETS_PER_SCOPE_MAX });
  for (const row of rows) await removeValue(places, row);
  await store.removeAll(scope);
}

/** Removes a value that the gateway has stored outside, unless its secret names it still, or again. @throws GatewayError 502 */
async function removeReplaced(
  store: VaultSecretStore,
  places: ValuePlaces,
  before: VaultSecretRow | undefined,
): Promise<void> {
  if (before === undefined) return;
  const now = await store.find({ kind: before.scopeKind, id: before.scopeId }, before.name);
  if (now?.external !== before.external) await removeValue(places, before);
}

async function copySecrets(
  { store, clock, settings }: Pick<VaultDeps, 'store' | 'clock' | 'settings'>,
  places: ValuePlaces,
  { from, to, names }: { readonly from: VaultScope; readonly to: VaultScope; readonly names: readonly string[] },
): Promise<readonly VaultSecretRow[]> {
  requireWrites(settings.writes);
  const found = await Promise.all(names.map((name) => store.find(from, name)));
  const missing = names.find((_name, at) => found[at] === undefined);
  if (missing !== undefined) throw unknownSecret(missing);
  const rows = found.flatMap((row) => row ?? []);
  const unbound = rows.find(({ hosts }) => hosts === null);
  if (unbound !== undefined)
    throw new GatewayError('invalid_request', `The secret "${unbound.name}" is bound to no host: store it again.`, {
      status: 409,
    });
  const known = await Promise.all(names.map((name) => store.find(to, name)));
  const added = known.filter((row) => row === undefined).length;
  if ((await store.count(to)) + added > SECRETS_PER_SCOPE_MAX) throw isFull();
  const copied: Awaited<ReturnType<typeof copyValue>>[] = [];
  for (const row of rows) copied.push(await copyValue(places, row, to));
  const nowMs = clock.nowMs();
  const copies = rows.map((row, at) => ({
    ...row,
    id: known[at]?.id ?? randomUUID(),
    scopeKind: to.kind,
    scopeId: to.id,
    ...copied[at],
    createdAtMs: known[at]?.createdAtMs ?? nowMs,
    updatedAtMs: nowMs,
  }));
  await store.putAll(copies);
  for (const row of known) await removeReplaced(store, places, row);
  return copies;
}

async function serializeSecrets(
  deps: Pick<VaultDeps, 'box' | 'releases' | 'clock' | 'settings'>,
  scope: VaultScope,
  rows: readonly VaultSecretRow[],
): Promise<readonly VaultSecret[]> {
  const box = await deps.box();
  const last = await deps.releases.lastReleases(
    scope,
    rows.map(({ name }) => name),
  );
  return rows.map(({ name, hosts, sealed, external, createdAtMs, updatedAtMs }) => ({
    name,
    hosts,
    fingerprint: sealed === null ? null : fingerprintOf(box, scope, name, sealed),
    backend: backendOf(external),
    external: external === null ? null : external.slice(kindOf(external).length + 1),
    createdAtMs,
    updatedAtMs,
    isStale: isStale({ external, updatedAtMs }, deps.settings.maxAgeMs, deps.clock.nowMs()),
    lastReleasedAtMs: last.get(name) ?? null,
  }));
}

function backendOf(external: string | null): VaultBackend {
  const kind = external === null ? 'builtin' : kindOf(external);
  return kind === 'file' || kind === 'hashicorp' ? kind : 'builtin';
}

function fingerprintOf(box: SecretBox, scope: VaultScope, name: string, sealed: string): string | null {
  try {
    const value = box.open(sealed, vaultPurpose(scope, name));
    return box.digest(value, `vault fingerprint ${scope.kind}:${scope.id}`).slice(0, FINGERPRINT_CHARS);
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}

function checkName(name: string): void {
  if (VAULT_NAME.test(name) && name.length <= VAULT_NAME_CHARS_MAX) return;
  throw invalid(
    'name',
    `must be lower-case letters, digits and single underscores, start with a letter, and have at most ${VAULT_NAME_CHARS_MAX} characters`,
  );
}

/** Merges what is the same host. */
function checkHosts(hosts: readonly string[], allowPrivate: boolean): readonly string[] {
  if (hosts.length === 0 || hosts.length > HOSTS_MAX) throw invalid('hosts', `must be 1 to ${HOSTS_MAX} host names`);
  const bound = hosts.map((text, index) => {
    const parsed = parseHost(text, { allowPrivate });
    if ('wrong' in parsed) throw invalid(`hosts[${index}]`, parsed.wrong);
    return parsed.host;
  });
  return [...new Set(bound)];
}

function requireWrites(writes: boolean): void {
  if (writes) return;
  throw new GatewayError('provider_overloaded', 'The vault is read-only: the configuration has vault.writes: false.');
}

function unknownSecret(name: string): GatewayError {
  return new GatewayError('not_found', `There is no secret "${name}".`);
}
