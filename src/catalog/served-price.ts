import type { Usage } from '../canonical/usage.ts';
import type { Endpoint } from './model.ts';
import type { PriceTable } from './price.ts';

/** Formats have different names for the standard capacity. @spec money-8 */
const STANDARD: ReadonlySet<string | undefined> = new Set(['default', 'standard']);

/** The tier that served is billed: a provider without capacity of the tier serves from the standard one, and says so. */
export function servedPrice(
  { price, serviceTier, standardPrice }: Pick<Endpoint, 'price' | 'serviceTier' | 'standardPrice'>,
  { serviceTier: served }: Pick<Usage, 'serviceTier'>,
): PriceTable | undefined {
  return serviceTier !== undefined && STANDARD.has(served) ? (standardPrice ?? price) : price;
}
