import {
  parseVaultTemplate,
  VaultError,
  VaultReferenceError,
  type FilledSecrets,
  type FillSecrets,
  type SecretDestination,
  type VaultTemplate,
} from '../canonical/vault-reference.ts';
import { createLruCache } from '../lib/cache/lru-cache.ts';
import { createReadThroughCache } from '../lib/cache/read-through-cache.ts';
import type { Clock } from '../lib/clock.ts';
import { SecretBoxError, type SecretBox } from '../lib/secret-box.ts';
import type { VaultSecretRow } from '../store/vault/columns.ts';
import type { VaultScope } from '../canonical/vault-reference.ts';
import type { VaultSecretStore } from '../store/vault/vault-secrets.ts';
import { checkRelease } from './release-check.ts';
import type { ReleaseLog } from './release-log.ts';

/** A change by another process takes effect after this, if no invalidation bus reports it before. @spec vault-8 */
const FRESH_MS = 5_000;
/** So long a value serves while the database does not answer. */
const STALE_MS_MAX = 5 * 60_000;
const READ_MS_MAX = 5_000;
/** Opened secrets in memory. */
const OPEN_MAX = 1_000;
/** Stands for the host in the record of releases. */
const PROCESS = 'a process of the gateway';

/** The secrets, as whatever sends them uses them. */
export interface VaultValues {
  /** Fills texts with the secrets of a scope. */
  fillIn(scope: VaultScope): FillSecrets;
  /**
   * Finds what is wrong with a text that names secrets, without releasing any.
   * @returns `undefined` when it could be filled now
   */
  problemOf(scope: VaultScope, text: string, url: string | undefined): Promise<VaultError | undefined>;
}

interface OpenSecret {
  readonly hosts: VaultSecretRow['hosts'];
  readonly value: string;
}

export interface VaultValuesDeps {
  readonly store: Pick<VaultSecretStore, 'find' | 'subscribe'>;
  readonly box: () => Promise<SecretBox>;
  readonly clock: Clock;
  readonly releases: Pick<ReleaseLog, 'add'>;
  readonly allowPrivateHosts: boolean;
}

export function createVaultValues(deps: VaultValuesDeps): VaultValues {
  const { store, clock, releases, allowPrivateHosts } = deps;
  const cache = createReadThroughCache<OpenSecret | undefined>({
    read: (key) => readSecret(deps, key),
    nowMs: clock.monotonicMs,
    freshMs: FRESH_MS,
    staleMsMax: STALE_MS_MAX,
    readMsMax: READ_MS_MAX,
    entriesMax: OPEN_MAX,
    negative: { freshMs: FRESH_MS, entriesMax: OPEN_MAX },
  });
  store.subscribe(
    () => cache.invalidate(),
    () => cache.markStale(),
  );

  /** Values that are kept elsewhere, such as by a destination that is on. */
  const held = createLruCache<string, string>(OPEN_MAX);

  async function find(scope: VaultScope, name: string): Promise<OpenSecret> {
    const found = await readOr(name, () => cache.get(`${scope.kind}:${scope.id}:${name}`));
    if (found === undefined)
      throw new VaultError('credential_missing', `There is no secret "${name}" in the vault of ${nameOf(scope)}.`);
    return found;
  }

  async function fill(
    scope: VaultScope,
    texts: Readonly<Record<string, string>>,
    { url, caller, keyHash, isKept = false }: SecretDestination,
  ): Promise<FilledSecrets> {
    const templates = Object.entries(texts).map(([key, text]) => ({ key, text, template: readTemplate(text) }));
    const opened = new Map<string, string>();
    const host = url === undefined ? PROCESS : (URL.parse(url)?.hostname ?? '');
    for (const name of new Set(templates.flatMap(({ template }) => template?.names ?? []))) {
      try {
        const secret = await find(scope, name);
        if (url !== undefined) checkRelease({ name, hosts: secret.hosts }, url, allowPrivateHosts);
        opened.set(name, secret.value);
      } catch (error) {
        releases.add({ scope, name, host, caller, keyHash, verdict: 'refused' });
        throw error;
      }
    }
    // All or nothing: none counts as released where another was refused.
    for (const [name, value] of opened) {
      const holder = [scope.kind, scope.id, name, host, caller].join('\n');
      if (isKept && held.get(holder) === value) continue;
      if (isKept) held.set(holder, value);
      releases.add({ scope, name, host, caller, keyHash, verdict: 'released' });
    }
    const filled = templates.map(({ key, text, template }) => [
      key,
      template === undefined ? text : template.fill((name) => opened.get(name) ?? ''),
    ]);
    return { texts: Object.fromEntries(filled), values: [...opened.values()] };
  }

  return {
    fillIn: (scope) => (texts, destination) => fill(scope, texts, destination),
    async problemOf(scope, text, url) {
      try {
        for (const name of readTemplate(text)?.names ?? []) {
          const { hosts } = await find(scope, name);
          if (url !== undefined) checkRelease({ name, hosts }, url, allowPrivateHosts);
        }
        return undefined;
      } catch (error) {
        if (error instanceof VaultError) return error;
        throw error;
      }
    },
  };
}

/** Makes the purpose that a value is sealed for: it does not open in another scope, or under another name. */
export function vaultPurpose(scope: VaultScope, name: string): string {
  return `vault:${scope.kind}:${scope.id}:${name}`;
}

async function readSecret({ store, box }: VaultValuesDeps, key: string): Promise<OpenSecret | undefined> {
  const [kind, id = '', name = ''] = key.split(':');
  const scope: VaultScope = { kind: kind === 'operator' ? 'operator' : 'workspace', id };
  const row = await store.find(scope, name);
  if (row === undefined) return undefined;
  if (row.sealed === null) throw new VaultError('vault_unavailable', `The vault has no value for "${name}".`);
  return { hosts: row.hosts, value: (await box()).open(row.sealed, vaultPurpose(scope, name)) };
}

/** @throws VaultError that says why a secret cannot be had */
async function readOr<Value>(name: string, read: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof VaultError) throw error;
    const why =
      error instanceof SecretBoxError ? 'what sealed it is gone; store it again' : 'the store does not answer';
    throw new VaultError('vault_unavailable', `The secret "${name}" of the vault cannot be read: ${why}.`, {
      cause: error,
    });
  }
}

/** @throws VaultError for a name that no secret can have */
function readTemplate(text: string): VaultTemplate | undefined {
  try {
    return parseVaultTemplate(text);
  } catch (error) {
    if (error instanceof VaultReferenceError)
      throw new VaultError('credential_missing', `A reference to the vault ${error.message}.`, { cause: error });
    throw error;
  }
}

function nameOf({ kind }: VaultScope): string {
  return kind === 'operator' ? 'the operator' : 'the workspace';
}
