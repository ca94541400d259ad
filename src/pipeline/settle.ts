import type { Hold, Ledger } from '../accounts/ledger.ts';
import type { Passage } from '../accounts/rate-limits.ts';
import type { Spent } from '../accounts/spend-limit.ts';
import { addUsage, NO_USAGE, type Usage } from '../canonical/usage.ts';
import { costOf, totalCost } from '../catalog/price.ts';
import { usdFromNano } from '../lib/money.ts';
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
  /** Tells what the request was about, of as many as there is time for. Absent: nobody looks. Never throws. */
  readonly tag?: (record: GenerationRecord) => string | undefined;
}

export interface Settle {
  /**
   * Fixes usage and cost, stores the record, and then frees what was held for it. Idempotent: the second call waits for
   * the first.
   * @param passage absent: no rate limit let it through
   */
  (record: GenerationRecord, hold: Hold | undefined, passage?: Passage): Promise<void>;
}

/**
 * Ends a generation's account, once, whatever path it took. Neither a generator's `finally` nor an abort signal may
 * come between the charge and the disk (docs/tour.md, 11 and 12).
 */
export function createSettle(parts: SettleParts): Settle {
  const settled = new WeakMap<GenerationRecord, Promise<void>>();
  return (record, hold, passage) => {
    const before = settled.get(record);
    if (before !== undefined) return before;
    record.finish();
    accountFor(record);
    compare(record);
    record.taskType ??= parts.tag?.(record);
    // Whoever sends too fast must not fill the database with refusals; what plugins cost before that is owed.
    const isRefusal = record.error?.rateLimit !== undefined && (record.cost?.totalNanoUsd ?? 0) === 0;
    const stored = isRefusal ? Promise.resolve() : parts.store(record);
    // While the disk is at work.
    parts.observe(record);
    // Freed before the caller sees the end, so that whoever asks again at once finds it so.
    const isFree = hold === undefined && passage === undefined;
    const ended = isFree ? stored : stored.then(() => free(parts, record, hold, passage));
    settled.set(record, ended);
    return ended;
  };
}

/** All at once: a state that is shared is asked once. */
async function free(
  { ledger }: SettleParts,
  record: GenerationRecord,
  hold: Hold | undefined,
  passage: Passage | undefined,
): Promise<void> {
  await Promise.all([hold && ledger.settle(hold, chargeOf(record)), passage?.ended(record.usage)]);
}

/** What a router's choice saved, its own questions to models included. Fees of tools would have been the same. */
function compare(record: GenerationRecord): void {
  const { comparedWith, usage, served, innerRuns, report, end } = record;
  if (comparedWith === undefined || usage === undefined || end === undefined || end.finish === 'error') return;
  // Whom the caller named beside the router was not its choice.
  if (!served.every(({ endpoint }) => report.chosen.includes(endpoint.model))) return;
  const spent = totalCost([...served, ...innerRuns].map(({ cost }) => cost));
  if (spent === undefined || spent.isPartial === true) return;
  const { totalNanoUsd } = costOf(comparedWith.price, usage, { atMs: record.createdMs });
  record.savedNanoUsd = totalNanoUsd - spent.totalNanoUsd;
  Object.assign(report.params, {
    compared_with: comparedWith.model,
    compared_cost_usd: usdFromNano(totalNanoUsd),
    saved_usd: usdFromNano(record.savedNanoUsd),
  });
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
