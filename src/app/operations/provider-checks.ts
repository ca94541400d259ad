import type { ByokCredentials } from '../../accounts/byok/byok-credentials.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Catalog } from '../../catalog/model.ts';
import type { Config } from '../../config/config.ts';
import type { ProviderCheck, ProviderChecks, ProviderStatus } from '../../http/management/operations/services.ts';
import { assert } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import { isUuid } from '../../lib/ids.ts';
import type { HttpClient } from '../../lib/net/http-client.ts';
import type { Provider, ProviderAdapter } from '../../providers/contract.ts';
import { ADAPTERS, KNOWN_PROVIDER_IDS, missingKey, turnsOn } from '../../providers/index.ts';
import type { ByokKeyStore } from '../../store/accounts/byok-keys.ts';
import type { ByokUpstreams } from '../providers/byok-upstreams.ts';
import { checkProvider } from '../check-provider/check-provider.ts';

export interface ProviderChecksDeps {
  readonly config: Pick<Config, 'providers'>;
  readonly providers: ReadonlyMap<string, Provider>;
  readonly catalog: Pick<Catalog, 'list'>;
  readonly store: Pick<ByokKeyStore, 'find'>;
  readonly byokCredentials: Pick<ByokCredentials, 'open'>;
  readonly byokUpstreams: Pick<ByokUpstreams, 'bring'>;
  readonly http: HttpClient;
  readonly clock: Clock;
}

const CHECK_MS_MAX = 15_000;
/** Each holds a connection, and up to 8 MB of an answer. */
const CHECKS_MAX = 4;
const RETRY_AFTER_MS = 1_000;
const SANDBOX = ADAPTERS.sandbox.id;

export function createProviderChecks(deps: ProviderChecksDeps): ProviderChecks {
  const { providers, store, byokCredentials, byokUpstreams, http, clock } = deps;
  let running = 0;

  async function run(provider: Provider): Promise<ProviderCheck> {
    if (running >= CHECKS_MAX)
      throw new GatewayError('rate_limit_exceeded', `${CHECKS_MAX} checks are running. Try again when one has ended.`, {
        retryAfterMs: RETRY_AFTER_MS,
      });
    running++;
    try {
      const models = upstreamModelsOf(deps, provider.settings.slug);
      const context = { http, nowMs: () => clock.nowMs(), limitMs: CHECK_MS_MAX, models };
      const { verdict, message } = await checkProvider(provider, context);
      return { verdict, message };
    } finally {
      running--;
    }
  }

  async function runNew(name: string, key: string, workspaceId: string | null = null): Promise<ProviderCheck> {
    const [first] = await byokUpstreams.bring(name, key, workspaceId);
    assert(first !== undefined, 'a credential names at least one place');
    return run(first.provider);
  }

  return {
    list: () => listStatuses(deps),
    async check(slug) {
      const provider = providers.get(slug);
      if (provider === undefined) throw new GatewayError('not_found', `The provider "${slug}" is not set up here.`);
      if (provider.adapter.id === SANDBOX) return { verdict: 'ok', message: 'It is part of the gateway.' };
      return run(provider);
    },
    async checkStored(id) {
      const row = isUuid(id) ? await store.find(id) : undefined;
      if (row === undefined) throw new GatewayError('not_found', 'There is no such credential.');
      return runNew(row.provider, await byokCredentials.open(row), row.workspaceId);
    },
    checkNew: (name, key) => runNew(name, key),
  };
}

function listStatuses(deps: ProviderChecksDeps): readonly ProviderStatus[] {
  const { providers } = deps;
  const there = [...providers.values()].map((provider) => statusOf(provider, deps));
  const off = KNOWN_PROVIDER_IDS.filter((id) => !providers.has(id)).flatMap((id) => {
    const found = turnsOn(id);
    return found === undefined ? [] : [statusOfMissing(found)];
  });
  return [...there, ...off];
}

function statusOf(provider: Provider, deps: ProviderChecksDeps): ProviderStatus {
  const { slug, name } = provider.settings;
  const variables = missingKey(provider);
  return {
    slug,
    name,
    isOn: variables.length === 0,
    credential: credentialOf(provider, deps),
    hint: variables.length === 0 ? null : `Set ${variables.join(' or ')}, or providers.${slug}.api_key.`,
    hasByokCredentials: provider.hasByokCredentials === true,
    formats: provider.formats.map(({ format }) => format),
    models: upstreamModelsOf(deps, slug).length,
  };
}

/** By its name: values are never shown. */
function credentialOf(
  { adapter, settings, authorize }: Provider,
  { config }: Pick<ProviderChecksDeps, 'config'>,
): string | null {
  const { slug } = settings;
  const entry = config.providers.find((configured) => configured.slug === slug);
  if (entry?.apiKey !== undefined) return `providers.${slug}.api_key`;
  if (settings.apiKey !== undefined) return adapter.apiKeyVariable ?? null;
  if (authorize === adapter.authorize) return null;
  return adapter.turnedOnBy?.join(' and ') ?? `providers.${slug}.options`;
}

function statusOfMissing({
  provider,
  providerName,
  turnedOnBy,
}: NonNullable<ReturnType<typeof turnsOn>>): ProviderStatus {
  return {
    slug: provider,
    name: providerName,
    isOn: false,
    credential: null,
    hint: `Set ${turnedOnBy}, or bring a credential.`,
    hasByokCredentials: false,
    formats: formatsOf(provider),
    models: 0,
  };
}

function formatsOf(id: string): readonly string[] {
  const adapter = new Map<string, ProviderAdapter>(Object.entries(ADAPTERS)).get(id);
  return adapter?.formats.map(({ format }) => format) ?? [];
}

/** The provider's own names of the models that endpoints name. */
function upstreamModelsOf({ catalog }: Pick<ProviderChecksDeps, 'catalog'>, slug: string): readonly string[] {
  const names = catalog
    .list()
    .flatMap(({ endpoints }) =>
      endpoints.filter(({ provider }) => provider === slug).map(({ upstreamModel }) => upstreamModel),
    );
  return [...new Set(names)];
}
