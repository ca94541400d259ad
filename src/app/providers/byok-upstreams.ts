import type { ByokCredentials } from '../../accounts/byok/byok-credentials.ts';
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
  describe(name: string, key: string): { readonly provider: string; readonly label: string };
  /**
   * The provider as it is called with a credential, once for each place that it names; at least one.
   * @throws GatewayError 400, as `describe`
   */
  bring(name: string, key: string): readonly ByokProvider[];
  /** @throws CredentialError for one that was deleted a moment ago, or that cannot be opened */
  connect(candidate: Candidate): Promise<Upstream>;
}

/** Opened ones that are kept, so that a token is fetched once and not with every call. */
const OPEN_MAX = 1_000;

interface OpenedCredential {
  readonly sealed: string;
  readonly base: Provider;
  readonly byok: readonly ByokProvider[];
}

export function createByokUpstreams(parts: {
  readonly providers: ReadonlyMap<string, Provider>;
  /** A provider that is there, or would be with a credential. */
  readonly findProvider: (slug: string) => Provider | undefined;
  readonly credentials: Pick<ByokCredentials, 'find' | 'open'>;
  readonly env: Readonly<Record<string, string | undefined>>;
}): ByokUpstreams {
  const { providers, findProvider, credentials, env } = parts;
  const opened = createLruCache<string, OpenedCredential>(OPEN_MAX);

  async function byokOf(id: string, base: Provider): Promise<readonly ByokProvider[]> {
    const row = credentials.find(id);
    if (row === undefined) throw new CredentialError('it was deleted');
    const known = opened.get(id);
    if (known !== undefined && known.sealed === row.sealed && known.base === base) return known.byok;
    const byok = bringCredential(base, await credentials.open(row), env);
    opened.set(id, { sealed: row.sealed, base, byok });
    return byok;
  }

  function bring(name: string, key: string): readonly ByokProvider[] {
    const base = findProvider(name);
    if (base === undefined) throw unknownProvider(name, [...providers.keys()]);
    try {
      return bringCredential(base, key, env);
    } catch (error) {
      if (error instanceof ProviderSetupError) throw invalid('key', problemOfCredential(error));
      throw error;
    }
  }

  return {
    bring,
    describe(name, key) {
      const [first] = bring(name, key);
      assert(first !== undefined, 'a credential names at least one place');
      return { provider: first.provider.settings.slug, label: maskText(first.shown) };
    },
    async connect({ endpoint, credential }) {
      const base = providers.get(endpoint.provider);
      if (base === undefined || credential === undefined) throw new CredentialError('its provider is gone');
      try {
        const found = byokFor(await byokOf(credential.id, base), endpoint.model);
        if (found === undefined) throw new CredentialError('it names no place for this model');
        const { provider, upstreamModel } = found;
        return { provider, endpoint: upstreamModel === undefined ? endpoint : { ...endpoint, upstreamModel } };
      } catch (error) {
        if (error instanceof SecretBoxError || error instanceof ProviderSetupError)
          throw new CredentialError(error.message, { cause: error });
        throw error;
      }
    },
  };
}

function unknownProvider(slug: string, known: readonly string[]): ReturnType<typeof invalid> {
  const nearest = nearestName(slug, known);
  const hint =
    nearest === undefined
      ? 'GET /providers lists those that there are, and others are set up in the configuration'
      : `did you mean "${nearest}"?`;
  return invalid('provider', `is not a provider of this gateway; ${hint}`);
}
