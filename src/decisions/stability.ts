import type { Verdict } from '../canonical/decisions.ts';

/** Orders that disagree by more show a judge that reads positions. */
const UNSTABLE_SPREAD = 0.5;
export const UNSTABLE_CONFIDENCE = 0.5;

/** Whether the orders of a question disagree so much that its verdict says little. */
export function isUnstable({ spread }: Pick<Verdict, 'spread'>): boolean {
  return spread > UNSTABLE_SPREAD;
}
