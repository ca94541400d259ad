import type { Allowance } from './contract.ts';

/** One allowance a subject: of several the least limit and the greatest demands. In the order of the first of each. */
export function strictest(allowances: readonly Allowance[]): readonly Allowance[] {
  const bySubject = new Map<string, Allowance>();
  for (const allowance of allowances) {
    const { subject, limitNanoUsd, wantNanoUsd, minNanoUsd } = allowance;
    const other = bySubject.get(subject) ?? allowance;
    bySubject.set(subject, {
      subject,
      limitNanoUsd: Math.min(limitNanoUsd, other.limitNanoUsd),
      wantNanoUsd: Math.max(wantNanoUsd, other.wantNanoUsd),
      minNanoUsd: Math.max(minNanoUsd, other.minNanoUsd),
    });
  }
  return [...bySubject.values()];
}
