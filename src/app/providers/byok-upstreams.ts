import type { ByokCredentials } from '../../accounts/byok/byok-credentials.ts';
import { VaultError, type FillSecrets } from '../../canonical/vault-reference.ts';
import { invalid } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import { createLruCache } from '../../lib/cache/lru-cache.ts';
import { maskText } from '../../lib/text/mask-text.ts';
import { nearestName } from '../../lib/text/nearest-name.ts';
import { SecretBoxError } from '../../lib/secret-box.ts';
import type { Upstream } from '../../pipeline/attempt/upstream.ts';
import { bringCredential, byokFor, problemOfCredential, type ByokProvider } from '../../providers/byok-credential.ts';
import { ProviderSetupError } from '../../providers/check-settings.ts';
import { CredentialError, type Provider } from '../../providers/contract.ts';
import type { Candidate } from '../../routing/route-plan.ts';

/** Providers as they are called with credentials that the account brought. */
export interface ByokUpstreams {
  /**
   * Whose a credential is, and its masked label.
   * @param name the provider's slug, or another name of it
   * @throws GatewayError 400 for an unknown provider, or a credential that cannot be one of its own
   */
  describe(
    name: string,
    key: string,
    workspaceId: string | null,
  ): Promise<{ readonly provider: string; readonly label: string }>;
  /**
   * The provider as it is called with a credential, once for each place that it names; at least one.
   * @throws GatewayError 400, as `describe`
   */
  bring(name: string, key: string, workspaceId: string | null): Promise<readonly ByokProvider[]>;
  /** @throws CredentialError for one that was deleted a moment ago, or that cannot be opened */
  connect(candidate: Candidate, keyHash: string | undefined): Promise<Upstream>;
}

/** Opened ones that are kept, so that a token is fetched once and not with every call. */
const OPEN_MAX = 1_000;

interface OpenedCredential {
  readonly sealed: string;
  /** Where it names a secret of the vault: its reference, and the value with which it was opened. */
  readonly named?: { readonly reference: string; readonly value: string };
  readonly base: Provider;
  readonly byok: readonly ByokProvider[];
}

export function createByokUpstreams(parts: {
  readonly providers: ReadonlyMap<string, Provider>;
  /** A provider that is there, or would be with a credential. */
  readonly findProvider: (slug: string) => Provider | undefined;
  readonly credentials: Pick<ByokCredentials, 'find' | 'open'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Secrets of the vault, of a workspace or, with null, of the operator. */
  readonly fillOf: (workspaceId: string | null) => FillSecrets;
}): ByokUpstreams {
  const { providers, findProvider, credentials, env, fillOf } = parts;
  const opened = createLruCache<string, OpenedCredential>(OPEN_MAX);

  async function byokOf(id: string, base: Provider, keyHash: string | undefined): Promise<readonly ByokProvider[]> {
    const row = credentials.find(id);
    if (row === undefined) throw new CredentialError('it was deleted');
    const known = opened.get(id);
    const isKnown = known !== undefined && known.sealed === row.sealed && known.base === base;
    if (isKnown && known.named === undefined) return known.byok;
    const text = isKnown ? (known.named?.reference ?? '') : await credentials.open(row);
    const value = await reveal(base, text, row.workspaceId, keyHash);
    if (isKnown && known.named?.value === value) return known.byok;
    const byok = bringCredential(base, value, env);
    checkPlaces(base, byok, value !== text);
    opened.set(id, { sealed: row.sealed, base, byok, ...(value !== text && { named: { reference: text, value } }) });
    return byok;
  }

  /** The credential itself, where it names a secret of the vault. @throws VaultError */
  async function reveal(base: Provider, text: string, workspaceId: string | null, keyHash?: string): Promise<string> {
    if (!text.startsWith('vault:')) return text;
    const { baseUrl: url, slug } = base.settings;
    const { texts } = await fillOf(workspaceId)({ text }, { url, caller: `byok:${slug}`, keyHash });
    return texts['text'] ?? text;
  }

  async function bring(name: string, key: string, workspaceId: string | null): Promise<readonly ByokProvider[]> {
    const base = findProvider(name);
    if (base === undefined) throw unknownProvider(name, [...providers.keys()]);
    try {
      const value = await reveal(base, key, workspaceId);
      const byok = bringCredential(base, value, env);
      checkPlaces(base, byok, value !== key);
      return byok;
    } catch (error) {
      if (error instanceof ProviderSetupError) throw invalid('key', problemOfCredential(error));
      if (error instanceof VaultError) throw invalid('key', `names a secret that is not released: ${error.message}`);
      throw error;
    }
  }

  return {
    bring,
    async describe(name, key, workspaceId) {
      const [first] = await bring(name, key, workspaceId);
      assert(first !== undefined, 'a credential names at least one place');
      // A reference is no secret, and by it one finds what a secret of the vault is used for.
      return { provider: first.provider.settings.slug, label: key.startsWith('vault:') ? key : maskText(first.shown) };
    },
    async connect({ endpoint, credential }, keyHash) {
      const base = providers.get(endpoint.provider);
      if (base === undefined || credential === undefined) throw new CredentialError('its provider is gone');
      try {
        const found = byokFor(await byokOf(credential.id, base, keyHash), endpoint.model);
        if (found === undefined) throw new CredentialError('it names no place for this model');
        const { provider, upstreamModel } = found;
        return { provider, endpoint: upstreamModel === undefined ? endpoint : { ...endpoint, upstreamModel } };
      } catch (error) {
        if (error instanceof SecretBoxError || error instanceof ProviderSetupError || error instanceof VaultError)
          throw new CredentialError(error.message, { cause: error });
        throw error;
      }
    },
  };
}

/**
 * A secret of the vault is bound to the provider's host: a credential in it must not lead elsewhere.
 * @throws VaultError
 */
function checkPlaces(base: Provider, byok: readonly ByokProvider[], isFromVault: boolean): void {
  const hostOf = ({ settings }: Provider): string => new URL(settings.baseUrl).host;
  const isElsewhere = isFromVault && byok.some(({ provider }) => hostOf(provider) !== hostOf(base));
  if (isElsewhere)
    throw new VaultError(
      'vault_host_mismatch',
      'A credential in the vault must not name another host than its provider.',
    );
}

function unknownProvider(slug: string, known: readonly string[]): ReturnType<typeof invalid> {
  const nearest = nearestName(slug, known);
  const hint =
    nearest === undefined
      ? 'GET /providers lists those that there are, and others are set up in the configuration'
      : `did you mean "${nearest}"?`;
  return invalid('provider', `is not a provider of this gateway; ${hint}`);
}
