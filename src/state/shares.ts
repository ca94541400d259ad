import type { Allowance } from './contract.ts';

/** A request that may begin with less takes at most this part of what is left. @spec money-37 */
export const SHARE_DIVISOR = 4;

/** What an allowance takes of what is left, if no other allowance of the reservation takes less. */
export function takenOf({ wantNanoUsd, share }: Allowance, leftNanoUsd: number): number {
  if (share === undefined) return Math.min(wantNanoUsd, leftNanoUsd);
  const { leastNanoUsd, spentNanoUsd } = share;
  const part = spentNanoUsd + Math.floor((leftNanoUsd - spentNanoUsd) / SHARE_DIVISOR);
  return Math.min(wantNanoUsd, Math.max(leastNanoUsd, part), leftNanoUsd);
}

/** How far the amount lies between the least and the most that the allowance takes: 0 to 1. */
export function degreeOf({ wantNanoUsd, minNanoUsd }: Allowance, takenNanoUsd: number): number {
  return wantNanoUsd <= minNanoUsd ? 1 : (takenNanoUsd - minNanoUsd) / (wantNanoUsd - minNanoUsd);
}

/** The amount at the degree of the scarcest allowance: what one limit does not pay for is reserved of no other. */
export function takenAt(
  { wantNanoUsd, minNanoUsd }: Allowance,
  { degree, own, takenNanoUsd }: { readonly degree: number; readonly own: number; readonly takenNanoUsd: number },
): number {
  if (own <= degree) return takenNanoUsd;
  return Math.min(takenNanoUsd, minNanoUsd + Math.ceil(degree * (wantNanoUsd - minNanoUsd)));
}
