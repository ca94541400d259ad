import { assert } from '../lib/assert.ts';
import type { Usage } from '../canonical/usage.ts';

/**
 * Prices of one endpoint. Pico-USD (1e-12 USD) a token, and a request: 1 USD per million tokens is 1,000,000 pico-USD a
 * token, so that list prices with six decimals stay integers.
 */
export interface PriceTable {
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
  readonly request?: number;
}

/** A cost, split as the caller sees it. Nano-USD (1e-9 USD), integers. */
export interface Cost {
  readonly totalNanoUsd: number;
  readonly promptNanoUsd: number;
  readonly completionNanoUsd: number;
}

/** The same members as vendors list them: USD per million tokens, and USD a request. */
export type ListPrice = PriceTable;

export const FREE: PriceTable = { prompt: 0, completion: 0 };

const PICO_PER_NANO = 1_000;
const PICO_PER_USD = 1e12;
const TOKENS_PER_MILLION = 1e6;

/** A list price as exact integers. */
export function priceTableOf(list: ListPrice): PriceTable {
  const { prompt, completion, cacheRead, cacheWrite, cacheWrite1h, reasoning, request } = list;
  return {
    prompt: picoUsdPerToken(prompt),
    completion: picoUsdPerToken(completion),
    ...(cacheRead !== undefined && { cacheRead: picoUsdPerToken(cacheRead) }),
    ...(cacheWrite !== undefined && { cacheWrite: picoUsdPerToken(cacheWrite) }),
    ...(cacheWrite1h !== undefined && { cacheWrite1h: picoUsdPerToken(cacheWrite1h) }),
    ...(reasoning !== undefined && { reasoning: picoUsdPerToken(reasoning) }),
    ...(request !== undefined && { request: picoUsd(request) }),
  };
}

/** Rounded to the nearest. */
function picoUsdPerToken(usdPerMillionTokens: number): number {
  return Math.round((usdPerMillionTokens * PICO_PER_USD) / TOKENS_PER_MILLION);
}

function picoUsd(usd: number): number {
  return Math.round(usd * PICO_PER_USD);
}

/**
 * The one price function: listing, holding and billing all use it. The total is rounded once, up, so that a charge
 * never falls below its parts; the prompt part is rounded down and the completion part up, which together never exceed it. The price of the
 * request itself is in the total only.
 * @source generation.md 6.2 "Cost ="
 */
export function costOf(price: PriceTable, counted: Usage): Cost {
  const usage = billedUsage(counted);
  const cacheRead = price.cacheRead ?? price.prompt;
  const cacheWrite = price.cacheWrite ?? price.prompt;
  const cacheWrite1h = price.cacheWrite1h ?? cacheWrite;
  const reasoningTokens = Math.min(usage.reasoningTokens ?? 0, usage.completionTokens);
  const written1h = Math.min(usage.cacheWrite1hTokens, usage.cacheWriteTokens);
  const plain = Math.max(0, usage.promptTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
  const promptPico =
    plain * price.prompt +
    usage.cacheReadTokens * cacheRead +
    (usage.cacheWriteTokens - written1h) * cacheWrite +
    written1h * cacheWrite1h;
  const completionPico =
    (usage.completionTokens - reasoningTokens) * price.completion +
    reasoningTokens * (price.reasoning ?? price.completion);
  const totalPico = promptPico + completionPico + (price.request ?? 0);
  // Every count is bounded where it is read, so the pico-USD may lose their last digits, and the nano-USD do not.
  assert(Number.isSafeInteger(Math.ceil(totalPico / PICO_PER_NANO)) && totalPico >= 0, 'a cost fits an exact integer');
  const totalNanoUsd = Math.ceil(totalPico / PICO_PER_NANO);
  const promptNanoUsd = Math.floor(promptPico / PICO_PER_NANO);
  const completionNanoUsd = Math.ceil(completionPico / PICO_PER_NANO);
  return { totalNanoUsd, promptNanoUsd, completionNanoUsd };
}

/** A provider that counts what it bills apart lists no other prices for it than the two: nobody knows what of it was cached. */
function billedUsage(usage: Usage): Usage {
  if (usage.billed === undefined) return usage;
  return { ...usage, ...usage.billed, cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
}
