import type { DecisionMethod, DecisionQuestion } from '../canonical/decisions.ts';

/** Up to so many options are put to the judge in every cyclic order. */
const CYCLIC_MAX = { schema: 4, logprobs: 8 } as const satisfies Readonly<Record<DecisionMethod, number>>;

/**
 * The orders in which the options of a question are put to the judge, as indices of options. With all cyclic orders every
 * option stands once at each position, so a preference for a position or a label cancels. A scale stays a scale: it is
 * turned around, and never cut.
 */
export function ordersOf(
  { type, options }: Pick<DecisionQuestion, 'type' | 'options'>,
  method: DecisionMethod,
  ordersMax = Infinity,
): readonly (readonly number[])[] {
  const given = options.map((_, index) => index);
  const isCyclic = type !== 'score' && given.length <= CYCLIC_MAX[method];
  const orders = isCyclic
    ? given.map((start) => [...given.slice(start), ...given.slice(0, start)])
    : [given, given.toReversed()];
  return orders.slice(0, ordersMax);
}

/** Fewer valid orders than this decide nothing. */
export function leastOrders(count: number): number {
  return Math.ceil(count / 2);
}
