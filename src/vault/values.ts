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
import type { VaultScope } from '../canonical/vault-reference.ts';
import { checkRelease } from './release-check.ts';
import { createSecretFinder, type SecretFinderDeps } from './find-secret.ts';
import type { ReleaseLog } from './release-log.ts';

/** Values that are kept elsewhere, of which only a change counts as a release. */
const HELD_MAX = 1_000;
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

export interface VaultValuesDeps extends SecretFinderDeps {
  readonly releases: Pick<ReleaseLog, 'add'>;
  readonly allowPrivateHosts: boolean;
}

export function createVaultValues(deps: VaultValuesDeps): VaultValues {
  const { releases, allowPrivateHosts } = deps;
  const find = createSecretFinder(deps);
  /** Values that are kept elsewhere, such as by a destination that is on. */
  const held = createLruCache<string, string>(HELD_MAX);

  async function fill(
    scope: VaultScope,
    texts: Readonly<Record<string, string>>,
    { url, caller, keyHash, isKept = false, isAddress = false }: SecretDestination,
  ): Promise<FilledSecrets> {
    const templates = Object.entries(texts).map(([key, text]) => ({ key, text, template: readTemplate(text) }));
    const opened = new Map<string, string>();
    let host = url === undefined ? PROCESS : hostOf(url);
    for (const name of new Set(templates.flatMap(({ template }) => template?.names ?? []))) {
      try {
        const secret = await find(scope, name);
        const target = isAddress ? secret.value : url;
        if (isAddress) host = hostOf(secret.value);
        if (target !== undefined) checkRelease({ name, hosts: secret.hosts }, target, allowPrivateHosts);
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

function hostOf(url: string): string {
  return URL.parse(url)?.hostname ?? '';
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
