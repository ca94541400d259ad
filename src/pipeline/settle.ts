import type { Hold, Ledger } from '../accounts/ledger.ts';
import type { Spent } from '../accounts/spend-limit.ts';
import { NO_USAGE } from '../canonical/usage.ts';
import type { GenerationRecord } from '../telemetry/record.ts';
import type { Closing } from '../wire/format.ts';
import { drawServiceMetadata } from '../wire/gateway/service-metadata.ts';
import { accountFor } from './account-for.ts';

export interface SettleParts {
  /** Stores the record; settles when it is durable, and within a bound when the disk is slow. Never rejects. */
  readonly store: (record: GenerationRecord) => Promise<void>;
  readonly ledger: Pick<Ledger, 'settle'>;
  /** Tells logs and metrics. Never throws. */
  readonly observe: (record: GenerationRecord) => void;
}

export interface Settle {
  /**
   * Fixes usage and cost, stores the record, and then frees what was held for it. Idempotent: the second call waits for
   * the first.
   */
  (record: GenerationRecord, hold: Hold | undefined): Promise<void>;
}

/**
 * Ends a generation's account, once, whatever path it took. Neither a generator's `finally` nor an abort signal may
 * come between the charge and the disk (docs/tour.md, 11 and 12).
 */
export function createSettle(parts: SettleParts): Settle {
  const settled = new WeakMap<GenerationRecord, Promise<void>>();
  return (record, hold) => {
    const before = settled.get(record);
    if (before !== undefined) return before;
    record.finish();
    accountFor(record);
    parts.observe(record);
    // Whoever sends too fast must not fill the database with refusals.
    const stored = record.error?.rateLimit === undefined ? parts.store(record) : Promise.resolve();
    // Freed before the caller sees the end, so that whoever asks again at once finds it so.
    const ended = hold === undefined ? stored : stored.then(() => parts.ledger.settle(hold, chargeOf(record)));
    settled.set(record, ended);
    return ended;
  };
}

/** Calls on the caller's own credentials count at list price, where they count. */
function chargeOf({ cost, listNanoUsd }: GenerationRecord): Spent {
  return { ownNanoUsd: cost?.totalNanoUsd ?? 0, byokNanoUsd: listNanoUsd ?? 0 };
}

/** What the answer's end tells the caller. Only after `settle`. */
export function closingOf(record: GenerationRecord, region: string): Closing {
  return {
    usage: record.usage ?? NO_USAGE,
    charge: record.cost,
    isByok: record.report.isByok,
    serviceMetadata: metadataOf(record, region),
  };
}

export function metadataOf(record: GenerationRecord, region: string): Closing['serviceMetadata'] {
  const { report } = record;
  return record.request.directives.serviceMetadata && report.routed ? drawServiceMetadata(report, region) : undefined;
}
