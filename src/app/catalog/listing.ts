import type { Authenticate } from '../../accounts/keys/authenticate.ts';
import type { Principal } from '../../accounts/principal.ts';
import { DEFAULT_PREFERENCES, type ProviderPreferences } from '../../canonical/directives.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Catalog } from '../../catalog/model.ts';
import type { ProviderFile } from '../../catalog/data-schema.ts';
import { readProviderData } from '../../catalog/read-data.ts';
import type { IsAllowed, ListedProvider, ListingServices } from '../../http/management/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RulesDeps } from '../../pipeline/admission/caller-rules.ts';
import type { Provider } from '../../providers/contract.ts';
import { endpointName } from '../../routing/endpoint-name.ts';
import { refusedBy } from '../../routing/permissions.ts';
import { endpointFits, withDefaults } from '../../routing/preferences.ts';
import type { EndpointStats } from '../../routing/stats.ts';

export interface ListingDeps extends Pick<RulesDeps, 'policyOf' | 'byokCredentials'> {
  readonly catalog: Catalog;
  readonly stats: Pick<EndpointStats, 'listed'>;
  readonly providers: ReadonlyMap<string, Provider>;
  /** The operator's. */
  readonly defaults: { readonly provider: Partial<ProviderPreferences> };
  readonly authenticate: Authenticate;
  readonly admitKey: ListingServices['admitKey'];
  readonly clock: Clock;
  /** With the version segment. */
  readonly baseUrl: () => string;
  readonly codexInstructions: string | undefined;
  readonly sourcesOf: ListingServices['sourcesOf'];
}

/** What the lists of models, endpoints and providers are made from. */
export function createListing(deps: ListingDeps): ListingServices {
  const { catalog, stats, providers, clock, baseUrl, codexInstructions } = deps;
  const files = new Map(readProviderData().map((file) => [file.slug, file]));
  return {
    catalog,
    metricsOf: (endpoint) => stats.listed(endpointName(endpoint)),
    providers: () => [...providers].map(([slug, provider]) => serializeProvider(slug, provider, files.get(slug))),
    allowedTo: (principal) => allowedTo(principal, deps),
    callerOf: (headers) =>
      Promise.try(() => deps.authenticate(headers, { allowApiKeyHeader: true })).catch(refusedAsNone),
    admitKey: deps.admitKey,
    nowMs: () => clock.nowMs(),
    baseUrl,
    codexInstructions,
    sourcesOf: deps.sourcesOf,
  };
}

function refusedAsNone(error: unknown): undefined {
  if (!(error instanceof GatewayError)) throw error;
  return undefined;
}

/** The hard rules of a plan, for a request that says nothing itself. */
async function allowedTo(principal: Principal, deps: ListingDeps): Promise<IsAllowed> {
  const [policy, credentials] = await Promise.all([deps.policyOf(principal), deps.byokCredentials(principal)]);
  const defaults = [...policy.preferences, deps.defaults.provider];
  const preferences = defaults.reduce<ProviderPreferences>(withDefaults, DEFAULT_PREFERENCES);
  return (model, endpoint) =>
    endpointFits(endpoint, preferences) === undefined &&
    refusedBy(model, endpoint, policy) === undefined &&
    (endpoint.lacksCredentials !== true || credentials(endpoint).length > 0);
}

/** Facts of the project's own files about a provider apply only to the vendor of that name. */
function serializeProvider(
  slug: string,
  { adapter, settings }: Provider,
  file: ProviderFile | undefined,
): ListedProvider {
  const facts = adapter.id === slug ? file : undefined;
  return {
    slug,
    name: settings.name,
    headquarters: facts?.headquarters ?? null,
    datacenters: facts?.datacenters ?? null,
    privacyPolicyUrl: facts?.privacy_policy_url ?? null,
    termsOfServiceUrl: facts?.terms_of_service_url ?? null,
    statusPageUrl: facts?.status_page_url ?? null,
  };
}
