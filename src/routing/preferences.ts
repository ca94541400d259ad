import type { ProviderPreferences } from '../canonical/directives.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { ExclusionReason } from './plan.ts';

const PICO_USD_PER_TOKEN_OF_USD_PER_MILLION = 1e6;
const PICO_PER_USD = 1e12;

/** Whether a name of the caller's means this endpoint's provider: slug or display name, or the base of a regional slug. */
export function matchesProvider(name: string, endpoint: Endpoint): boolean {
  const wanted = name.toLowerCase();
  const slug = endpoint.provider.toLowerCase();
  return wanted === slug || wanted === endpoint.providerName.toLowerCase() || slug.startsWith(`${wanted}/`);
}

/** The first hard filter of the caller's that an endpoint fails; `undefined` when it passes. @source generation.md 3.1 */
export function endpointFits(endpoint: Endpoint, preferences: ProviderPreferences): ExclusionReason | undefined {
  const { only, ignore } = preferences;
  if (only !== undefined && !only.some((name) => matchesProvider(name, endpoint))) return 'allowed_providers';
  if (ignore !== undefined && ignore.some((name) => matchesProvider(name, endpoint))) return 'allowed_providers';
  // An unknown policy counts as retaining and training.
  const { training = true, retentionDays = Infinity } = endpoint.dataPolicy;
  if (preferences.dataCollection === 'deny' && (training || retentionDays > 0)) return 'data_policy:training';
  if (preferences.zdr && retentionDays > 0) return 'data_policy:zdr';
  return exceedsPrice(endpoint, preferences.maxPrice) ? 'max_price' : undefined;
}

function exceedsPrice(endpoint: Endpoint, bound: ProviderPreferences['maxPrice']): boolean {
  if (bound === undefined) return false;
  const { price } = endpoint;
  // A bound cannot be shown to hold for a price that nobody knows.
  if (price === undefined) return Object.keys(bound).length > 0;
  return (
    price.prompt > (bound.prompt ?? Infinity) * PICO_USD_PER_TOKEN_OF_USD_PER_MILLION ||
    price.completion > (bound.completion ?? Infinity) * PICO_USD_PER_TOKEN_OF_USD_PER_MILLION ||
    (price.request ?? 0) > (bound.request ?? Infinity) * PICO_PER_USD
  );
}

/** The caller's preferences over the operator's defaults: a member that the caller set replaces the default's. */
export function withDefaults(asked: ProviderPreferences, defaults: Partial<ProviderPreferences>): ProviderPreferences {
  const { order, only, ignore, sort } = defaults;
  return {
    ...(order !== undefined && { order }),
    ...(only !== undefined && { only }),
    ...(sort !== undefined && { sort }),
    ...asked,
    ...(ignore !== undefined && { ignore: [...ignore, ...(asked.ignore ?? [])] }),
    ...(only !== undefined && asked.only !== undefined && { only: asked.only.filter((name) => only.includes(name)) }),
    dataCollection: defaults.dataCollection === 'deny' ? 'deny' : asked.dataCollection,
    zdr: asked.zdr || defaults.zdr === true,
  };
}
