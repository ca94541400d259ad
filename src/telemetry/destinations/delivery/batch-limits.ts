import type { BatchLimits, OpenDestination } from '../contract.ts';

/** How often it is looked for new records. */
export const TICK_MS = 1_000;

/** Where a type says nothing else. */
const LIMITS: BatchLimits = {
  records: 100,
  bytes: 4 * 1_024 * 1_024,
  gatherMs: TICK_MS,
  callMs: 10_000,
  callsAtOnce: 1,
};

export function limitsOf({ limits }: OpenDestination): BatchLimits {
  return { ...LIMITS, ...limits };
}
