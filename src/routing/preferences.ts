import type { ProviderPreferences } from '../canonical/directives.ts';
import { intersectProviders } from '../canonical/provider-names.ts';
import type { Endpoint } from '../catalog/model.ts';
import type { ExclusionReason } from '../canonical/exclusion-reasons.ts';

const PICO_USD_PER_TOKEN_OF_USD_PER_MILLION = 1e6;
const PICO_PER_USD = 1e12;

/**
 * Whether a name of the caller's means this endpoint: by slug or display name of its provider, by its own tag, or by the
 * base of either. Capacity of a special tier is meant only by a name that says the tier. @spec route-7
 */
export function matchesProvider(name: string, endpoint: Endpoint): boolean {
  const { provider, tag, serviceTier } = endpoint;
  const wanted = name.toLowerCase();
  if (wanted === tag?.toLowerCase()) return true;
  if (serviceTier !== undefined) return wanted === `${provider.toLowerCase()}/${serviceTier}`;
  return matchesBase(wanted, endpoint);
}

function matchesBase(wanted: string, { provider, providerName, tag }: Endpoint): boolean {
  const slug = provider.toLowerCase();
  if (wanted === slug || wanted === providerName.toLowerCase()) return true;
  return slug.startsWith(`${wanted}/`) || tag?.toLowerCase().startsWith(`${wanted}/`) === true;
}

/** Ignoring a provider includes its priority capacity. */
function isIgnored(name: string, endpoint: Endpoint): boolean {
  return matchesProvider(name, endpoint) || matchesBase(name.toLowerCase(), endpoint);
}

/** The first hard filter of the caller's that an endpoint fails; `undefined` when it passes. @spec route-18 */
export function endpointFits(endpoint: Endpoint, preferences: ProviderPreferences): ExclusionReason | undefined {
  const { only, ignore, quantizations, enforceDistillableText } = preferences;
  if (only !== undefined && !only.some((name) => matchesProvider(name, endpoint))) return 'allowed_providers';
  if (ignore !== undefined && ignore.some((name) => isIgnored(name, endpoint))) return 'allowed_providers';
  // An unknown policy counts as retaining and training.
  const { training = true, retentionDays = Infinity } = endpoint.dataPolicy;
  if (preferences.dataCollection === 'deny' && (training || retentionDays > 0)) return 'data_policy:training';
  if (preferences.zdr && retentionDays > 0) return 'data_policy:zdr';
  if (enforceDistillableText && endpoint.distillable !== true) return 'enforce_distillable_text';
  if (quantizations !== undefined && !quantizations.includes(endpoint.quantization ?? 'unknown')) return 'quantization';
  return exceedsPrice(endpoint, preferences.maxPrice) ? 'max_price' : undefined;
}

function exceedsPrice(endpoint: Endpoint, bound: ProviderPreferences['maxPrice']): boolean {
  if (bound === undefined) return false;
  const { price } = endpoint;
  // An unknown price cannot satisfy a bound.
  if (price === undefined) return Object.keys(bound).length > 0;
  return (
    price.prompt > (bound.prompt ?? Infinity) * PICO_USD_PER_TOKEN_OF_USD_PER_MILLION ||
    price.completion > (bound.completion ?? Infinity) * PICO_USD_PER_TOKEN_OF_USD_PER_MILLION ||
    (price.request ?? 0) > (bound.request ?? Infinity) * PICO_PER_USD ||
    (price.image ?? 0) > (bound.image ?? Infinity) * PICO_PER_USD ||
    (price.audio ?? 0) > (bound.audio ?? Infinity) * PICO_PER_USD
  );
}

/**
 * The caller's preferences over the operator's defaults: `only` intersects, `ignore` unites, the stricter word on data
 * counts; any other member that the caller set replaces the default's.
 */
export function withDefaults(
  requested: ProviderPreferences,
  defaults: Partial<ProviderPreferences>,
): ProviderPreferences {
  if (Object.keys(defaults).length === 0) return requested;
  const { order, only, ignore, sort } = defaults;
  return {
    ...(order !== undefined && requested.sort?.by === undefined && { order }),
    ...(only !== undefined && { only }),
    ...(sort !== undefined && requested.order === undefined && { sort }),
    ...requested,
    ...(sort !== undefined && requested.sort !== undefined && { sort: { ...sort, ...requested.sort } }),
    ...(ignore !== undefined && { ignore: [...ignore, ...(requested.ignore ?? [])] }),
    ...(only !== undefined && requested.only !== undefined && { only: intersectProviders(requested.only, only) }),
    dataCollection: defaults.dataCollection === 'deny' ? 'deny' : requested.dataCollection,
    zdr: requested.zdr || defaults.zdr === true,
  };
}
