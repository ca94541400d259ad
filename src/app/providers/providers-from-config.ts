import type { Config } from '../../config/config.ts';
import type { BetaTable } from '../../providers/beta-flags.ts';
import type { Provider } from '../../providers/contract.ts';
import { createProviders, missingKey } from '../../providers/index.ts';

/** Longest list of endpoints that a warning spells out. */
const ENDPOINTS_SHOWN_MAX = 5;

/**
 * The providers of a configuration, of the environment, and those that endpoints name.
 * @throws ProviderSetupError
 */
export function providersFromConfig(
  config: Pick<Config, 'models' | 'passThrough' | 'providers' | 'timeouts'>,
  env: Readonly<Record<string, string | undefined>>,
  sandboxBaseUrl: string,
  betaTable?: BetaTable,
): ReadonlyMap<string, Provider> {
  const named = new Set(endpointsOf(config).map(({ provider }) => provider));
  return createProviders({
    config: config.providers,
    env,
    timeouts: config.timeouts,
    named,
    sandboxBaseUrl,
    ...(betaTable !== undefined && { betaTable }),
  });
}

/** A sentence for each provider that lacks a key: no request to it could ever succeed. */
export function credentialWarnings(
  config: Pick<Config, 'models' | 'passThrough'>,
  providers: ReadonlyMap<string, Provider>,
): readonly string[] {
  const endpoints = endpointsOf(config);
  const warnings: string[] = [];
  for (const [slug, provider] of providers) {
    const variables = missingKey(provider);
    if (variables.length === 0 || provider.hasByokCredentials === true) continue;
    const idle = endpoints.filter((endpoint) => endpoint.provider === slug).map(({ endpoint }) => endpoint);
    const shown = idle.slice(0, ENDPOINTS_SHOWN_MAX).join(', ');
    const more = idle.length > ENDPOINTS_SHOWN_MAX ? ` and ${idle.length - ENDPOINTS_SHOWN_MAX} more` : '';
    const skipped = idle.length === 0 ? 'it is never called' : `these endpoints are never called: ${shown}${more}`;
    warnings.push(
      `The provider ${slug} has no credentials: set ${variables.join(' or ')}, or providers.${slug}.api_key. Until then ${skipped}.`,
    );
  }
  return warnings;
}

function endpointsOf(config: Pick<Config, 'models' | 'passThrough'>) {
  return [
    ...config.models.flatMap(({ slug, endpoints }) =>
      endpoints.map(({ provider, model }) => ({ provider, endpoint: `${slug} (${model})` })),
    ),
    ...config.passThrough.map(({ prefix, provider }) => ({ provider, endpoint: `${prefix}*` })),
  ];
}
