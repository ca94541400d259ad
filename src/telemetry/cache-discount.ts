import { costOf } from '../catalog/price.ts';
import type { GenerationRecord } from './record.ts';

/**
 * Savings of prompt caches on a generation at list price, in nano-USD; negative when writing cost more than reading
 * saved. `null`: no cache was involved, or the price is unknown.
 */
export function cacheDiscountOf({ served, createdMs }: Pick<GenerationRecord, 'served' | 'createdMs'>): number | null {
  let discount: number | null = null;
  for (const { endpoint, usage, cost } of served) {
    const { price } = endpoint;
    const wasCached = usage.cacheReadTokens > 0 || usage.cacheWriteTokens > 0;
    if (price === undefined || cost === undefined || !wasCached) continue;
    const moment = { atMs: createdMs };
    const uncached = { ...usage, cacheReadTokens: 0, cacheWriteTokens: 0, cacheWrite1hTokens: 0 };
    discount =
      (discount ?? 0) + costOf(price, uncached, moment).totalNanoUsd - costOf(price, usage, moment).totalNanoUsd;
  }
  return discount;
}
