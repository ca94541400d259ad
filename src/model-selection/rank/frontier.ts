/** Something that has a price and a worth. */
export interface Offer {
  /** Less is better. */
  readonly price: number;
  /** More is better. */
  readonly score: number;
}

/**
 * Those that no other one beats: nothing is as good or better for as little or less, and different in one of them. Of
 * equals the first stays. Cheapest first, which is worst first.
 */
export function frontierOf<One extends Offer>(offers: readonly One[]): readonly One[] {
  const sorted = offers.toSorted((left, right) => left.price - right.price || right.score - left.score);
  const frontier: One[] = [];
  let best = Number.NEGATIVE_INFINITY;
  for (const offer of sorted) {
    if (offer.score <= best) continue;
    best = offer.score;
    frontier.push(offer);
  }
  return frontier;
}

/**
 * The order below a price: the best of the frontier that it allows, then the cheaper ones of the frontier, then the
 * rest that it allows, best first. @spec router-22
 */
export function chooseUnderCap<One extends Offer>(offers: readonly One[], priceMax: number): readonly One[] {
  const affordable = offers.filter(({ price }) => price <= priceMax);
  const frontier = frontierOf(affordable);
  const onIt = new Set(frontier);
  const rest = affordable
    .filter((offer) => !onIt.has(offer))
    .toSorted((left, right) => right.score - left.score || left.price - right.price);
  return [...frontier.toReversed(), ...rest];
}
