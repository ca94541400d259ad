import type { Allowance, Share } from './contract.ts';

/**
 * Merges allowances to one for each subject, with the lowest limit and the largest demands, in the order of first
 * appearance.
 */
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

/** Picks the share that takes more; an allowance without a share takes all that it wants. */
function greater(left: Share | undefined, right: Share | undefined): Share | undefined {
  if (left === undefined || right === undefined) return undefined;
  return left.leastNanoUsd >= right.leastNanoUsd ? left : right;
}
