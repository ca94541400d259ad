import type { PercentileBound, ProviderPreferences } from '../canonical/directives.ts';
import type { Endpoint } from '../catalog/model.ts';
import { sampleByWeight } from './balance.ts';
import { endpointName } from './endpoint-name.ts';
import type { Shortcut, Entry, Ordering } from './route-plan.ts';
import { unreachable } from '../lib/assert.ts';
import { matchesProvider } from './preferences.ts';
import { qualityTiers } from './quality.ts';
import type { Percentiles } from './rolling.ts';
import type { RoutingMetrics } from './stats.ts';

export interface OrderInput {
  readonly preferences: ProviderPreferences;
  readonly shortcut: Shortcut | undefined;
  /** As requested. */
  readonly serviceTier: string | undefined;
  readonly hasTools: boolean;
  readonly metrics: (endpoint: Endpoint) => RoutingMetrics | undefined;
  /** From 0 up to, not including, 1. */
  readonly random: number;
}

/**
 * The order of these entries: a paid priority tier, where available, puts the fastest first.
 * @spec route-25, route-31; an explicit sort or order beats a suffix's
 */
export function orderingOf(entries: readonly Entry[], input: OrderInput): Ordering {
  const ordering = requestedOrdering(input);
  const isForSpeed = ordering === 'balanced' && input.serviceTier === 'priority' && entries.some(isPriority);
  return isForSpeed ? 'throughput' : ordering;
}

function requestedOrdering({ preferences, shortcut, serviceTier, hasTools }: OrderInput): Ordering {
  if (preferences.order !== undefined && preferences.order.length > 0) return 'order';
  if (preferences.sort?.by !== undefined) return preferences.sort.by;
  if (shortcut !== undefined) return SORT_OF_SHORTCUT[shortcut];
  if (serviceTier === 'flex') return 'price';
  return hasTools ? 'exacto' : 'balanced';
}

const SORT_OF_SHORTCUT = { nitro: 'throughput', floor: 'price', exacto: 'exacto' } as const;

/** Puts the endpoints of one model, or of all models together, in the order to try them. */
export function orderEntries(entries: readonly Entry[], ordering: Ordering, input: OrderInput): Entry[] {
  // There is nothing to compare.
  if (entries.length < 2) return [...entries];
  const ordered = orderPlain(entries, ordering, input);
  if (input.serviceTier !== 'priority' || ordering === 'order') return ordered;
  // With a paid priority tier, its endpoints come first. @spec route-31
  return [...ordered.filter(isPriority), ...ordered.filter((entry) => !isPriority(entry))];
}

function isPriority({ candidate }: Entry): boolean {
  return candidate.endpoint.serviceTier === 'priority';
}

function orderPlain(entries: readonly Entry[], ordering: Ordering, input: OrderInput): Entry[] {
  switch (ordering) {
    case 'balanced':
      return probeFirst(balance(entries, input.random), input);
    case 'exacto':
      return probeFirst(byQuality(balance(entries, input.random), input), input);
    case 'order':
      return failingLast(byOrder(entries, input.preferences.order ?? []));
    case 'price':
      return failingLast(sortBy(entries, ({ candidate }) => priceOf(candidate.endpoint)));
    case 'throughput':
      return failingLast(
        sortBy(entries, ({ candidate }) => -(input.metrics(candidate.endpoint)?.throughput()?.p50 ?? 0)),
      );
    case 'latency':
      return failingLast(
        sortBy(entries, ({ candidate }) => input.metrics(candidate.endpoint)?.latency()?.p50 ?? Infinity),
      );
    default:
      return unreachable(ordering);
  }
}

/** Normal ones by chance, then degraded ones, then failing ones. @spec route-25, route-27 */
function balance(entries: readonly Entry[], random: number): Entry[] {
  if (entries.every(({ health }) => health.rank === 0)) return [...sampleByPrice(entries, random)];
  const byRank: readonly [Entry[], Entry[], Entry[]] = [[], [], []];
  for (const entry of entries) byRank[entry.health.rank].push(entry);
  return [
    ...sampleByPrice(byRank[0], random),
    ...sampleByPrice(byRank[1], random),
    ...sampleByPrice(byRank[2], random),
  ];
}

/** Samples with a probability of 1 / price²; free ones come first; an unknown price counts as the highest. */
function sampleByPrice(entries: readonly Entry[], random: number): readonly Entry[] {
  if (entries.length < 2) return entries;
  const prices = new Float64Array(entries.length);
  let dearest = 0;
  let isAnyFree = false;
  let at = 0;
  for (const { candidate } of entries) {
    const price = priceOf(candidate.endpoint);
    prices[at++] = price;
    if (price === 0) isAnyFree = true;
    else if (price !== Infinity && price > dearest) dearest = price;
  }
  if (!isAnyFree) return sampleByWeight(entries, weightsOf(prices, dearest), random);
  const free = entries.filter((_, index) => prices[index] === 0);
  const paid = entries.filter((_, index) => prices[index] !== 0);
  return [...sampleByWeight(free, new Float64Array(free.length).fill(1), random), ...sampleByPrice(paid, random)];
}

/** Replaces prices by weights, relative to the highest price, so that a weight is never below 1. */
function weightsOf(prices: Float64Array, highest: number): Float64Array {
  for (let at = 0; at < prices.length; at++) {
    const ratio = highest === 0 ? 1 : highest / Math.min(prices[at] ?? highest, highest);
    prices[at] = ratio * ratio;
  }
  return prices;
}

/** Pico-USD a token, prompt and completion together; `Infinity`: unknown, which is never cheap. */
function priceOf({ price }: Endpoint): number {
  return price === undefined ? Infinity : price.prompt + price.completion;
}

/**
 * One request probes whether an endpoint has recovered, with others as fallback. @spec fallback-22, and "a successful
 * probe resets it"
 */
function probeFirst(entries: Entry[], { preferences }: OrderInput): Entry[] {
  if (!preferences.allowFallbacks) return entries;
  const at = entries.findIndex(({ health }) => health.probeDue);
  const due = entries[at];
  if (due === undefined || entries.length < 2) return entries;
  const probe: Entry = { ...due, candidate: { ...due.candidate, probe: true } };
  return [probe, ...entries.slice(0, at), ...entries.slice(at + 1)];
}

/** Inside each rank of health, which the order keeps, by tiers. @spec route-22 */
function byQuality(entries: readonly Entry[], { metrics }: OrderInput): Entry[] {
  const tiers = qualityTiers(
    entries.map(({ candidate }) => {
      const own = metrics(candidate.endpoint);
      return { metrics: own?.quality(), throughput: () => own?.throughput()?.p50 };
    }),
  );
  if (tiers.every((tier) => tier === tiers[0])) return [...entries];
  const places = entries.map(({ health }, at) => health.rank * TIERS + (tiers[at] ?? 1));
  return [...new Set(places)]
    .toSorted((one, other) => one - other)
    .flatMap((place) => entries.filter((_, at) => places[at] === place));
}

const TIERS = 3;

/** Listed ones as listed, then the others, cheapest first: there is no balancing beside an order. @spec route-2 */
function byOrder(entries: readonly Entry[], order: readonly string[]): Entry[] {
  const places = new Map(
    entries.map((entry) => {
      const at = order.findIndex((name) => matchesProvider(name, entry.candidate.endpoint));
      return [entry, at < 0 ? order.length : at];
    }),
  );
  return entries.toSorted((left, right) => {
    const byPlace = (places.get(left) ?? 0) - (places.get(right) ?? 0);
    if (byPlace !== 0 || places.get(left) !== order.length) return byPlace;
    const [one, other] = [priceOf(left.candidate.endpoint), priceOf(right.candidate.endpoint)];
    return one === other ? 0 : one - other;
  });
}

function sortBy(entries: readonly Entry[], valueOf: (entry: Entry) => number): Entry[] {
  const values = new Map(entries.map((entry) => [entry, valueOf(entry)]));
  return entries.toSorted((left, right) => {
    const [one, other] = [values.get(left) ?? 0, values.get(right) ?? 0];
    return one === other ? 0 : one - other;
  });
}

/** A strict order is kept among those that work; one whose probe is due counts as such, in its own place. */
function failingLast(entries: readonly Entry[]): Entry[] {
  if (entries.every(({ health }) => health.rank < 2)) return [...entries];
  const isLast = ({ health }: Entry): boolean => health.rank === 2 && !health.probeDue;
  return [...entries.filter((entry) => !isLast(entry)), ...entries.filter(isLast)];
}

/** Puts one endpoint, or all of one provider, before the rest. */
export function firstOf(entries: readonly Entry[], isFirst: (endpoint: Endpoint) => boolean): Entry[] {
  const first = entries.filter(({ candidate }) => isFirst(candidate.endpoint));
  return first.length === 0 ? [...entries] : [...first, ...entries.filter((entry) => !first.includes(entry))];
}

export function isNamed(name: string): (endpoint: Endpoint) => boolean {
  return (endpoint) => endpointName(endpoint) === name;
}

/** The soft bound that an endpoint misses. An unmeasured endpoint misses none. @spec route-16 */
export function missedBound(
  endpoint: Endpoint,
  { preferredMinThroughput, preferredMaxLatency }: ProviderPreferences,
  metrics: OrderInput['metrics'],
): 'preferred_min_throughput' | 'preferred_max_latency' | undefined {
  if (preferredMinThroughput === undefined && preferredMaxLatency === undefined) return undefined;
  const own = metrics(endpoint);
  if (isMissed(preferredMinThroughput, own?.throughput(), (value, bound) => value < bound))
    return 'preferred_min_throughput';
  if (isMissed(preferredMaxLatency, own?.latency(), (value, bound) => value > bound)) return 'preferred_max_latency';
  return undefined;
}

function isMissed(
  bounds: PercentileBound | undefined,
  values: Percentiles | undefined,
  misses: (value: number, bound: number) => boolean,
): boolean {
  if (bounds === undefined || values === undefined) return false;
  return (['p50', 'p75', 'p90', 'p99'] as const).some((percentile) => {
    const bound = bounds[percentile];
    return bound !== undefined && misses(values[percentile], bound);
  });
}
