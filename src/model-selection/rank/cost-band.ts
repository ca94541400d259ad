/** Something with a price that the others have, too. */
export interface Priced {
  /** Any unit, the same for all. */
  readonly price: number;
}

export const COST_TIERS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;
export type CostTier = (typeof COST_TIERS)[number];

/** A band of cost percentiles: from the first number up to the second one, which only the last band includes. */
export interface Band {
  readonly from: number;
  readonly to: number;
}

/** Which part of the pool a request may be answered by. */
export interface CostPreference {
  /** A band: cheaper ones are out, too. */
  readonly tier?: CostTier | undefined;
  /** Only without a tier. 0 to 10: the higher the cheaper, a ceiling. */
  readonly tradeoff?: number | undefined;
}

/** @spec router-12 */
const TRADEOFF_DEFAULT = 9;

export interface BandChoice<One> {
  readonly band: Band;
  /** The requested band was empty, and this is the nearest one that is not. */
  readonly moved: boolean;
  readonly chosen: readonly One[];
}

/** The band of a preference. 0 keeps all but the dearest tenth, 10 the cheapest tenth. */
function bandOf({ tier, tradeoff = TRADEOFF_DEFAULT }: CostPreference): Band {
  if (tier === undefined) return { from: 0, to: (90 - 8 * tradeoff) / 100 };
  const at = COST_TIERS.indexOf(tier);
  return { from: at / COST_TIERS.length, to: (at + 1) / COST_TIERS.length };
}

/** Where each stands in the pool: the part of the others that is cheaper. Alone it is 0. */
export function costPercentiles<One extends Priced>(pool: readonly One[]): ReadonlyMap<One, number> {
  const sorted = pool.map(({ price }) => price).toSorted((left, right) => left - right);
  return new Map(
    pool.map((one) => {
      const cheaper = sorted.findIndex((price) => price >= one.price);
      return [one, pool.length === 1 ? 0 : cheaper / (pool.length - 1)];
    }),
  );
}

/** Those of the pool that are in the band, or in the nearest band that is not empty, cheaper bands first. */
export function keepBand<One extends Priced>(pool: readonly One[], preference: CostPreference): BandChoice<One> {
  const percentiles = costPercentiles(pool);
  const within = ({ from, to }: Band): readonly One[] =>
    pool.filter((one) => {
      const percentile = percentiles.get(one) ?? 0;
      // A ceiling includes itself; of the bands side by side only the last one does.
      return (
        percentile >= from && (percentile < to || ((preference.tier === undefined || to === 1) && percentile <= to))
      );
    });
  const requested = bandOf(preference);
  for (const band of [requested, ...neighboursOf(preference)]) {
    const chosen = within(band);
    if (chosen.length > 0) return { band, moved: band !== requested, chosen };
  }
  return { band: requested, moved: false, chosen: [] };
}

function neighboursOf({ tier }: CostPreference): readonly Band[] {
  if (tier === undefined) return [];
  const at = COST_TIERS.indexOf(tier);
  return COST_TIERS.map((name, index) => ({ name, away: Math.abs(index - at), dearer: index > at ? 1 : 0 }))
    .filter(({ away }) => away > 0)
    .toSorted((left, right) => left.away - right.away || left.dearer - right.dearer)
    .map(({ name }) => bandOf({ tier: name }));
}
