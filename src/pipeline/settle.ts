import type { Hold, Ledger } from '../accounts/ledger.ts';
import type { Spent } from '../accounts/spend-limit.ts';
import { addUsage, NO_USAGE, type Usage } from '../canonical/usage.ts';
import { totalCost } from '../catalog/price.ts';
import type { GenerationRecord, ServerToolUse } from '../telemetry/record.ts';
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
    // Whoever sends too fast must not fill the database with refusals.
    const stored = record.error?.rateLimit === undefined ? parts.store(record) : Promise.resolve();
    // While the disk is at work.
    parts.observe(record);
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

/**
 * What the answer's end tells the caller: the sums over all turns, tools and generations inside. Only after `settle`.
 * @source generation.md 5.3
 */
export function closingOf(record: GenerationRecord, region: string): Closing {
  const { serverTools, innerRuns, report } = record;
  return {
    usage: innerRuns.map(({ usage }) => usage).reduce(addInside, withTools(record.usage ?? NO_USAGE, serverTools)),
    charge: innerRuns.length === 0 ? record.cost : totalCost([record.cost, ...innerRuns.map(({ cost }) => cost)]),
    isByok: report.isByok,
    ...(serverTools !== undefined && {
      serverCalls: { requested: serverTools.requested, executed: serverTools.executed },
    }),
    serviceMetadata: metadataOf(record, region),
  };
}

/** What the model that answers said of itself stands; of those inside only the counts are added. */
function addInside(usage: Usage, inside: Usage): Usage {
  const { extra, serviceTier } = usage;
  const { extra: _extra, serviceTier: _tier, ...sum } = addUsage(usage, inside);
  return { ...sum, ...(extra !== undefined && { extra }), ...(serviceTier !== undefined && { serviceTier }) };
}

function withTools(usage: Usage, tools: ServerToolUse | undefined): Usage {
  if (tools === undefined) return usage;
  const { webSearchRequests: searches, webFetchRequests: fetches } = usage;
  return {
    ...usage,
    ...((searches !== undefined || tools.searches > 0) && { webSearchRequests: (searches ?? 0) + tools.searches }),
    ...((fetches !== undefined || tools.fetches > 0) && { webFetchRequests: (fetches ?? 0) + tools.fetches }),
  };
}

export function metadataOf(record: GenerationRecord, region: string): Closing['serviceMetadata'] {
  const { request, report } = record;
  const isTold = report.routed || isRefusedByGuardrail(record);
  return request.directives.serviceMetadata && isTold ? drawServiceMetadata(report, region) : undefined;
}

/** Before a route was looked for. @source seed 7 */
function isRefusedByGuardrail({ error, report }: GenerationRecord): boolean {
  return error?.status === 403 && report.pipeline.some(({ type }) => type === 'guardrail');
}
