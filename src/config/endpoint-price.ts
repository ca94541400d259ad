import { z } from 'zod';

/** Costs are exact integers of 1e-12 USD: at this price nine million tokens still fit 2^53. */
const PRICE_USD_MAX = 1_000;

/** What an endpoint costs: USD per million tokens; `request` USD each. An absent member: `catalog/price.ts` says what it means. */
export interface EndpointPrice {
  readonly prompt: number;
  readonly completion: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly cacheWrite1h?: number;
  readonly reasoning?: number;
  readonly request?: number;
}

const price = z.number().min(0).max(PRICE_USD_MAX);

/** The same in the file's words. */
export const priceShape = {
  prompt: price,
  completion: price,
  cache_read: price.optional(),
  cache_write: price.optional(),
  cache_write_1h: price.optional(),
  reasoning: price.optional(),
  request: price.optional(),
};

type PriceEntry = z.output<z.ZodObject<typeof priceShape>>;

export function readPrice(entry: PriceEntry): EndpointPrice {
  const { prompt, completion, cache_read: read, cache_write: write, cache_write_1h: write1h } = entry;
  const { reasoning, request } = entry;
  return {
    prompt,
    completion,
    ...(read !== undefined && { cacheRead: read }),
    ...(write !== undefined && { cacheWrite: write }),
    ...(write1h !== undefined && { cacheWrite1h: write1h }),
    ...(reasoning !== undefined && { reasoning }),
    ...(request !== undefined && { request }),
  };
}

export function drawPrice({ prompt, completion, reasoning, request, ...cache }: EndpointPrice): PriceEntry {
  return {
    prompt,
    completion,
    cache_read: cache.cacheRead,
    cache_write: cache.cacheWrite,
    cache_write_1h: cache.cacheWrite1h,
    reasoning,
    request,
  };
}
