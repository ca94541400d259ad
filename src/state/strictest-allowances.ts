import type { Allowance, Share } from './contract.ts';

/** One allowance a subject: of several the least limit and the greatest demands. In the order of the first of each. */
export function strictestAllowances(allowances: readonly Allowance[]): readonly Allowance[] {
  const bySubject = new Map<string, Allowance>();
  for (const allowance of allowances) {
    const { subject, limitNanoUsd, wantNanoUsd, minNanoUsd } = allowance;
    const other = bySubject.get(subject) ?? allowance;
    const share = greater(allowance.share, other.share);
    bySubject.set(subject, {
      subject,
      limitNanoUsd: Math.min(limitNanoUsd, other.limitNanoUsd),
      wantNanoUsd: Math.max(wantNanoUsd, other.wantNanoUsd),
      minNanoUsd: Math.max(minNanoUsd, other.minNanoUsd),
      ...(share !== undefined && { share }),
    });
  }
  return [...bySubject.values()];
}

/** Of two the one that takes more; an allowance without one takes all that it wants. */
function greater(left: Share | undefined, right: Share | undefined): Share | undefined {
  if (left === undefined || right === undefined) return undefined;
  return left.leastNanoUsd >= right.leastNanoUsd ? left : right;
}
