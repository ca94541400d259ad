import type { DecisionMethod, DecisionQuestion } from '../canonical/decisions.ts';
import { ordersOf } from './orders.ts';
import { isListed, type OrderedQuestion } from './prompt.ts';

/** Questions that one generation answers. */
export interface JudgeCall {
  readonly questions: readonly OrderedQuestion[];
}

/** Options that stand in one call together. */
const OPTIONS_MAX = 64;
/** Generations of one decision, without repeats. */
export const CALLS_MAX = 256;

/** The calls that put each question in each of its orders. By percentages several questions share a call. */
export function planCalls(
  questions: readonly DecisionQuestion[],
  method: DecisionMethod,
  ordersMax: number | undefined,
): readonly JudgeCall[] {
  const ordered = questions.map((question) => ({ question, orders: ordersOf(question, method, ordersMax) }));
  const rounds = Math.max(0, ...ordered.map(({ orders }) => orders.length));
  return Array.from({ length: rounds }, (_, round) =>
    ordered.flatMap(({ question, orders }) => {
      const order = orders[round];
      return order === undefined ? [] : [{ question, order }];
    }),
  ).flatMap((round) => (method === 'logprobs' ? round.map((each) => ({ questions: [each] })) : packed(round)));
}

function packed(round: readonly OrderedQuestion[]): readonly JudgeCall[] {
  const calls: OrderedQuestion[][] = [];
  let room = 0;
  for (const each of round) {
    const size = each.order.length;
    // The likeliest of a long list have a form of their own.
    if (isListed(each.question)) {
      calls.push([each]);
      room = 0;
      continue;
    }
    if (size > room) {
      calls.push([]);
      room = OPTIONS_MAX;
    }
    calls.at(-1)?.push(each);
    room -= size;
  }
  return calls.map((held) => ({ questions: held }));
}
