import type { ListPrice, PriceOverride, PriceRates } from './price.ts';

/** What of the library's providers is read here. Its data is public only through look-ups. */
export interface LibraryProvider {
  readonly models: readonly LibraryModel[];
}

interface LibraryModel {
  readonly id: string;
  readonly prices: LibraryPrices | readonly ConditionalPrices[];
}

type LibraryPrices = Readonly<Record<string, number | LibraryTiers | undefined>>;

interface LibraryTiers {
  readonly base: number;
  /** From more than `start` prompt tokens on. */
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

interface ConditionalPrices {
  readonly constraint?:
    | { readonly type: 'start_date'; readonly start_date: string }
    | { readonly type: 'time_of_date'; readonly start_time: string; readonly end_time: string };
  readonly prices: LibraryPrices;
}

/** The price of exactly that row. `undefined`: there is none, or it says less than a prompt's and a completion's. */
export type PriceLibrary = (reference: { readonly provider: string; readonly model: string }) => ListPrice | undefined;

/** The library's units for ours: per million tokens, or per thousand of the rest, which we list one by one. */
const RATES_OF_LIBRARY: readonly (readonly [unit: string, rate: keyof PriceRates, units: number])[] = [
  ['input_mtok', 'prompt', 1],
  ['output_mtok', 'completion', 1],
  ['cache_read_mtok', 'cacheRead', 1],
  ['cache_write_mtok', 'cacheWrite', 1],
  ['cache_write_1h_mtok', 'cacheWrite1h', 1],
  ['output_reasoning_mtok', 'reasoning', 1],
  ['input_audio_mtok', 'audio', 1],
  ['output_audio_mtok', 'audioOutput', 1],
  ['output_image_mtok', 'imageOutput', 1],
  ['web_searches_kcount', 'webSearch', 1_000],
  ['requests_kcount', 'request', 1_000],
];

/**
 * Rows are found by their exact id: the library's own matching goes by prefixes and gives `gpt-oss-safeguard-20b` the price
 * of another model.
 * @param today `2026-11-20`: prices that start later do not hold yet
 */
export function createPriceLibrary(
  findProvider: (id: string) => LibraryProvider | undefined,
  today: string,
): PriceLibrary {
  return ({ provider, model }) => {
    const row = findProvider(provider)?.models.find(({ id }) => id === model);
    return row === undefined ? undefined : priceOfRow(row, today);
  };
}

/** Loaded on demand: half a megabyte of data that a gateway without such providers does not need. */
export async function loadPriceLibrary(nowMs: number): Promise<PriceLibrary> {
  const { findProvider } = await import('@pydantic/genai-prices');
  return createPriceLibrary(
    // Its look-up takes other names for a provider too; an exact reference names the id.
    (providerId) => {
      const found = findProvider({ providerId });
      return found?.id === providerId ? found : undefined;
    },
    new Date(nowMs).toISOString().slice(0, 10),
  );
}

function priceOfRow({ prices }: LibraryModel, today: string): ListPrice | undefined {
  const rows: readonly ConditionalPrices[] = isList(prices) ? prices : [{ prices }];
  let base: ListPrice | undefined;
  const windows: PriceOverride[] = [];
  // In the library, too, a later row wins among those that hold.
  for (const { constraint, prices: listed } of rows) {
    if (constraint?.type === 'time_of_date') {
      const [utcStart, utcEnd] = [hourOf(constraint.start_time), hourOf(constraint.end_time)];
      if (utcStart === undefined || utcEnd === undefined) return undefined;
      windows.push({ utcStart, utcEnd, rates: baseRates(listed) });
    } else if (constraint === undefined || constraint.start_date <= today) {
      base = listPriceOf(listed) ?? base;
    }
  }
  if (base === undefined) return undefined;
  const overrides = [...(base.overrides ?? []), ...windows];
  return { ...base, ...(overrides.length > 0 && { overrides }) };
}

function isList(prices: LibraryPrices | readonly ConditionalPrices[]): prices is readonly ConditionalPrices[] {
  return Array.isArray(prices);
}

function listPriceOf(prices: LibraryPrices): ListPrice | undefined {
  const rates = baseRates(prices);
  const { prompt, completion } = rates;
  if (prompt === undefined || completion === undefined) return undefined;
  const overrides = tiersOf(prices);
  return { ...rates, prompt, completion, ...(overrides.length > 0 && { overrides }) };
}

function baseRates(prices: LibraryPrices): Partial<PriceRates> {
  const rates: { -readonly [Rate in keyof PriceRates]?: number } = {};
  for (const [unit, rate, units] of RATES_OF_LIBRARY) {
    const price = prices[unit];
    if (price !== undefined) rates[rate] = (typeof price === 'number' ? price : price.base) / units;
  }
  return rates;
}

/** One override a threshold, the lowest first, so that the highest that holds wins. */
function tiersOf(prices: LibraryPrices): readonly PriceOverride[] {
  const byStart = new Map<number, { -readonly [Rate in keyof PriceRates]?: number }>();
  for (const [unit, rate, units] of RATES_OF_LIBRARY) {
    const price = prices[unit];
    if (price === undefined || typeof price === 'number') continue;
    for (const tier of price.tiers) {
      const rates = byStart.get(tier.start) ?? {};
      rates[rate] = tier.price / units;
      byStart.set(tier.start, rates);
    }
  }
  return [...byStart]
    .toSorted(([one], [other]) => one - other)
    .map(([minPromptTokens, rates]) => ({ minPromptTokens, rates }));
}

/** `01:30:00Z` as 130; another zone is not read. */
function hourOf(time: string): number | undefined {
  const parts = /^(\d\d):(\d\d)(?::\d\d)?Z$/.exec(time);
  return parts === null ? undefined : Number(parts[1]) * 100 + Number(parts[2]);
}
