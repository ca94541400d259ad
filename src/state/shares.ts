import type { Allowance } from './contract.ts';

/** A request that may begin with less takes at most this part of the rest. @spec money-37 */
export const SHARE_DIVISOR = 4;

/** Computes what an allowance takes of the rest, if no other allowance of the reservation takes less. */
export function takenOf({ wantNanoUsd, share }: Allowance, leftNanoUsd: number): number {
  if (share === undefined) return Math.min(wantNanoUsd, leftNanoUsd);
  const { leastNanoUsd, spentNanoUsd } = share;
  const part = spentNanoUsd + Math.floor((leftNanoUsd - spentNanoUsd) / SHARE_DIVISOR);
  return Math.min(wantNanoUsd, Math.max(leastNanoUsd, part), leftNanoUsd);
}

/** Computes where the amount lies between the least and the most that the allowance takes: 0 to 1. */
export function degreeOf({ wantNanoUsd, minNanoUsd }: Allowance, takenNanoUsd: number): number {
  return wantNanoUsd <= minNanoUsd ? 1 : (takenNanoUsd - minNanoUsd) / (wantNanoUsd - minNanoUsd);
}

/**
 * Computes the amount at the degree of the scarcest allowance: what one limit does not pay for is not reserved from
 * others.
 */
export function takenAt(
  { wantNanoUsd, minNanoUsd }: Allowance,
  { degree, own, takenNanoUsd }: { readonly degree: number; readonly own: number; readonly takenNanoUsd: number },
): number {
  if (own <= degree) return takenNanoUsd;
  return Math.min(takenNanoUsd, minNanoUsd + Math.ceil(degree * (wantNanoUsd - minNanoUsd)));
}
