import type { GenerateDeps } from '../pipeline/generate.ts';
import type { SettleDeps } from '../pipeline/billing/settle.ts';
import type { Spending } from './spending.ts';
import type { GenerationStore } from '../store/generations/generations.ts';
import { chargesOf } from '../telemetry/charges.ts';
import { rowOf } from '../telemetry/generation-row.ts';

/** A request does not wait longer than this for its record to reach the disk; the record itself waits on. */
const STORE_WAIT_MS = 2_000;

/** What keeps the account of a request: its limits, its hold, and its record with the charge. */
export interface Accounting extends Pick<GenerateDeps, 'ledger' | 'rateLimiter'> {
  readonly store: SettleDeps['store'];
}

export function createAccounting(
  { ledger, rateLimiter }: Spending,
  generations: Pick<GenerationStore, 'append'>,
  region: string,
): Accounting {
  return {
    ledger,
    rateLimiter,
    store: (record) => withinLimit(generations.append(rowOf(record, region), chargesOf(record)), STORE_WAIT_MS),
  };
}

/** Settles with the promise, or when its time is over, whichever comes first. */
function withinLimit(promise: Promise<void>, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, limitMs);
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      settle();
    };
    // One promise more, where `finally` would be three: this is done for every request.
    promise.then(
      () => end(resolve),
      (error) => end(() => reject(error)),
    );
  });
}
