import { assert } from '../lib/assert.ts';
import type { Usage } from '../canonical/usage.ts';
import { unitsCost, type ImagePrice, type VariantPrices } from './unit-price.ts';

/**
 * What one unit of each kind costs. Pico-USD (1e-12 USD): 1 USD per million tokens is 1,000,000 pico-USD a token, so that
 * list prices with six decimals stay integers. Tokens, unless a member says otherwise.
 */
export interface PriceRates {
  readonly prompt: number;
  readonly completion: number;
  /** Absent: cached tokens cost what prompt tokens cost. */
  readonly cacheRead?: number;
  /** Absent: written tokens cost what prompt tokens cost. */
  readonly cacheWrite?: number;
  /** Absent: `cacheWrite`. */
  readonly cacheWrite1h?: number;
  /** Absent: `completion`. */
  readonly reasoning?: number;
  /** A token of audio in the prompt. Absent: `prompt`. */
  readonly audio?: number;
  /** Absent: `completion`. */
  readonly audioOutput?: number;
  /** Absent: `completion`. */
  readonly imageOutput?: number;
  /** One picture in the prompt, beside its tokens. */
  readonly image?: number;
  /** One web search that the upstream ran. */
  readonly webSearch?: number;
  readonly request?: number;
  /** A token of a picture in the prompt. Absent: `prompt`. */
  readonly imageToken?: number;
  /** A search unit: a query with up to a hundred documents, as rerankers count. */
  readonly searchUnit?: number;
  /** A character to be spoken. */
  readonly character?: number;
  /** A second of audio that is heard. */
  readonly second?: number;
  /** A second of audio that is made. */
  readonly outputSecond?: number;
}

/** Rates that take the place of the others while all conditions hold. @spec money-4 */
export interface PriceOverride {
  /** More prompt tokens than this, cached and written ones included; then every token of the request costs it. */
  readonly minPromptTokens?: number;
  /** UTC, HHMM: `930` is half past nine. Half open, and over midnight where the end is not after the start. */
  readonly utcStart?: number;
  readonly utcEnd?: number;
  readonly rates: Partial<PriceRates>;
}

/** Prices of one endpoint. */
export interface PriceTable extends PriceRates {
  /** Of those that hold, a later one wins, rate by rate. */
  readonly overrides?: readonly PriceOverride[];
  /** What pictures cost that are made. Absent: their tokens alone. */
  readonly images?: readonly ImagePrice[];
  /** A second of a clip that is made, by what it is. Absent: its tokens alone. */
  readonly video?: VariantPrices;
  /** A clip, likewise. */
  readonly videoRequest?: VariantPrices;
}

/** A cost, split as the caller sees it. Nano-USD (1e-9 USD), integers. */
export interface Cost {
  readonly totalNanoUsd: number;
  readonly promptNanoUsd: number;
  readonly completionNanoUsd: number;
  /** Something else was consumed, whose price is unknown. */
  readonly isPartial?: true;
}

/** The same members as vendors list them: USD per million tokens or characters; all else USD each. */
export type ListPrice = PriceTable;

/** What prices depend on beside the counted tokens. */
export interface PriceMoment {
  /** When the request began, Unix ms. Absent: no time of day holds. */
  readonly atMs?: number;
  /** Pictures in the prompt. */
  readonly promptImages?: number;
  /** What is not known of pictures and clips is what costs most: the most that a request may come to. */
  readonly isWorst?: true;
}

/** Whether tokens of texts or sounds cost something. */
export function isPaidByToken(price: PriceTable | undefined): boolean {
  return [price?.prompt, price?.completion, price?.audio, price?.audioOutput].some((rate = 0) => rate > 0);
}

export const FREE: PriceTable = { prompt: 0, completion: 0 };

const PICO_PER_NANO = 1_000;
export const PICO_PER_USD = 1e12;
const TOKENS_PER_MILLION = 1e6;
const CHARACTERS_PER_MILLION = 1e6;

/** Every rate, and of how many units its list price is. */
export const UNITS: Readonly<Record<keyof PriceRates, number>> = {
  prompt: TOKENS_PER_MILLION,
  completion: TOKENS_PER_MILLION,
  cacheRead: TOKENS_PER_MILLION,
  cacheWrite: TOKENS_PER_MILLION,
  cacheWrite1h: TOKENS_PER_MILLION,
  reasoning: TOKENS_PER_MILLION,
  audio: TOKENS_PER_MILLION,
  audioOutput: TOKENS_PER_MILLION,
  imageOutput: TOKENS_PER_MILLION,
  image: 1,
  webSearch: 1,
  request: 1,
  imageToken: TOKENS_PER_MILLION,
  searchUnit: 1,
  character: CHARACTERS_PER_MILLION,
  second: 1,
  outputSecond: 1,
};

/** A list price as exact integers. */
export function priceTableOf({ overrides, images, video, videoRequest, ...list }: ListPrice): PriceTable {
  return {
    prompt: picoUsd(list.prompt, UNITS.prompt),
    completion: picoUsd(list.completion, UNITS.completion),
    ...ratesOf(list),
    ...(overrides !== undefined && {
      overrides: overrides.map(({ rates, ...when }) => ({ ...when, rates: ratesOf(rates) })),
    }),
    ...(images !== undefined && { images: images.map((line) => ({ ...line, price: picoUsd(line.price, 1) })) }),
    ...(video !== undefined && { video: variantsOf(video) }),
    ...(videoRequest !== undefined && { videoRequest: variantsOf(videoRequest) }),
  };
}

function variantsOf(listed: VariantPrices): VariantPrices {
  return Object.fromEntries(Object.entries(listed).map(([variant, price]) => [variant, picoUsd(price, 1)]));
}

function ratesOf(list: Partial<PriceRates>): Partial<PriceRates> {
  const rates: { -readonly [Rate in keyof PriceRates]?: number } = {};
  for (const rate of RATES) {
    const price = list[rate];
    if (price !== undefined) rates[rate] = picoUsd(price, UNITS[rate]);
  }
  return rates;
}

/** Every kind of unit that a price may be of. */
const RATES: readonly (keyof PriceRates)[] = [
  'prompt',
  'completion',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'reasoning',
  'audio',
  'audioOutput',
  'imageOutput',
  'image',
  'webSearch',
  'request',
  'imageToken',
  'searchUnit',
  'character',
  'second',
  'outputSecond',
];

/** Rounded to the nearest. */
function picoUsd(listed: number, units: number): number {
  return Math.round((listed * PICO_PER_USD) / units);
}

/**
 * The one price function: listing, holding and billing all use it. The total is rounded once, up, so that a charge
 * never falls below its parts; the prompt part is rounded down and the completion part up, which together never exceed it. The price of the
 * request itself, of its searches, its pictures and of every unit that is no token is in the total only. Where something was made
 * that no line of the price is for, the cost is marked as partial: that is never free.
 * @spec money-1, money-47
 */
export function costOf(price: PriceTable, counted: Usage, moment: PriceMoment = {}): Cost {
  const usage = billedUsage(counted);
  const rates = ratesAt(price, usage.promptTokens, moment.atMs);
  const promptPico = promptCost(rates, usage);
  const completionPico = completionCost(rates, usage);
  const apart =
    (rates.request ?? 0) +
    (usage.webSearchRequests ?? 0) * (rates.webSearch ?? 0) +
    (moment.promptImages ?? 0) * (rates.image ?? 0);
  const units = usage.units === undefined ? 0 : unitsCost({ ...price, ...rates }, usage, moment.isWorst === true);
  const totalPico = promptPico + completionPico + apart + (units ?? 0);
  // Every count is bounded where it is read, so the pico-USD may lose their last digits, and the nano-USD do not.
  assert(Number.isSafeInteger(Math.ceil(totalPico / PICO_PER_NANO)) && totalPico >= 0, 'a cost fits an exact integer');
  const totalNanoUsd = Math.ceil(totalPico / PICO_PER_NANO);
  const promptNanoUsd = Math.floor(promptPico / PICO_PER_NANO);
  const completionNanoUsd = Math.ceil(completionPico / PICO_PER_NANO);
  return units === undefined
    ? { totalNanoUsd, promptNanoUsd, completionNanoUsd, isPartial: true }
    : { totalNanoUsd, promptNanoUsd, completionNanoUsd };
}

/**
 * The cost of all parts of one response. If the cost of a part is unknown, it is the sum of the others, marked as
 * partial; `undefined` if there are no others.
 */
export function totalCost(parts: readonly (Cost | undefined)[]): Cost | undefined {
  const [only] = parts;
  // Nearly always it is one part.
  if (parts.length === 1 && only?.isPartial !== true) return only;
  const known = parts.filter((part) => part !== undefined);
  const sum = (of: (part: Cost) => number): number => known.reduce((total, part) => total + of(part), 0);
  const totalNanoUsd = sum((part) => part.totalNanoUsd);
  const isPartial = known.length < parts.length || known.some((part) => part.isPartial === true);
  if (isPartial && totalNanoUsd === 0) return undefined;
  return {
    totalNanoUsd,
    promptNanoUsd: sum((part) => part.promptNanoUsd),
    completionNanoUsd: sum((part) => part.completionNanoUsd),
    ...(isPartial && { isPartial }),
  };
}

/** The rates for a prompt of this many tokens at that time. */
export function ratesAt(price: PriceTable, promptTokens: number, atMs?: number): PriceRates {
  if (price.overrides === undefined) return price;
  let rates: PriceRates = price;
  for (const override of price.overrides)
    if (holds(override, promptTokens, atMs)) rates = { ...rates, ...override.rates };
  return rates;
}

function holds({ minPromptTokens, utcStart, utcEnd }: PriceOverride, promptTokens: number, atMs?: number): boolean {
  if (minPromptTokens !== undefined && promptTokens <= minPromptTokens) return false;
  if (utcStart === undefined || utcEnd === undefined) return true;
  if (atMs === undefined) return false;
  const time = new Date(atMs);
  const now = time.getUTCHours() * 100 + time.getUTCMinutes();
  return utcStart < utcEnd ? now >= utcStart && now < utcEnd : now >= utcStart || now < utcEnd;
}

function promptCost(rates: PriceRates, usage: Usage): number {
  const cacheWrite = rates.cacheWrite ?? rates.prompt;
  const written1h = Math.min(usage.cacheWrite1hTokens, usage.cacheWriteTokens);
  const plain = Math.max(0, usage.promptTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
  const audio = rates.audio === undefined ? 0 : Math.min(usage.audioPromptTokens ?? 0, plain);
  const images = rates.imageToken === undefined ? 0 : Math.min(usage.imagePromptTokens ?? 0, plain - audio);
  return (
    (plain - audio - images) * rates.prompt +
    audio * (rates.audio ?? 0) +
    images * (rates.imageToken ?? 0) +
    usage.cacheReadTokens * (rates.cacheRead ?? rates.prompt) +
    (usage.cacheWriteTokens - written1h) * cacheWrite +
    written1h * (rates.cacheWrite1h ?? cacheWrite)
  );
}

/** Reasoning, sound and pictures are parts of the completion: a provider that counts more of them is not paid twice. */
function completionCost(rates: PriceRates, usage: Usage): number {
  let left = usage.completionTokens;
  const take = (tokens: number | undefined): number => {
    const taken = Math.min(tokens ?? 0, left);
    left -= taken;
    return taken;
  };
  const reasoning = take(usage.reasoningTokens) * (rates.reasoning ?? rates.completion);
  const audio = take(usage.audioCompletionTokens) * (rates.audioOutput ?? rates.completion);
  const images = take(usage.imageCompletionTokens) * (rates.imageOutput ?? rates.completion);
  return left * rates.completion + reasoning + audio + images;
}

/** A provider with its own billed counts lists no other prices than these two: what was cached is unknown. */
function billedUsage(usage: Usage): Usage {
  if (usage.billed === undefined) return usage;
  return { ...usage, ...usage.billed, cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
}

const USD_DECIMALS = 12;

/** Pico-USD as an exact decimal of USD, for listings: `0.000003`. */
export function decimalUsd(picoUsdAmount: number): string {
  const digits = picoUsdAmount.toFixed(0).padStart(USD_DECIMALS + 1, '0');
  const fraction = digits.slice(-USD_DECIMALS).replace(/0+$/, '');
  const whole = digits.slice(0, -USD_DECIMALS);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
