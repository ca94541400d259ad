import { costOf } from '../catalog/price.ts';
import type { GenerationRecord } from './record.ts';

/**
 * What the prompt caches saved on a generation at list price, nano-USD; negative where writing cost more than reading saved.
 * `null`: no cache had a part in it, or nobody knows the price.
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
