import type { Spent } from '../../accounts/limits/spend-limit.ts';
import type { ModelRequest } from '../../canonical/operation.ts';
import { addUsage, NO_USAGE, type Usage } from '../../canonical/usage.ts';
import { costOf, totalCost } from '../../catalog/price.ts';
import type { Clock } from '../../lib/clock.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { FinalBill, GenerationRecord } from '../../telemetry/record.ts';
import type { RouterChoice, ServerToolUse } from '../../telemetry/request-log.ts';
import type { ErrorContext, FinalUsage } from '../../wire/format.ts';
import { encodeServiceMetadata } from '../../wire/gateway/service-metadata.ts';
import type { BudgetReservation } from '../admission/budget-reservation.ts';
import type { RequestFacts } from '../request.ts';
import { billOf } from './final-cost.ts';

export interface SettleDeps {
  /** Stores the record; settles when it is durable. @throws GatewayError 503 when the disk is slow; it is stored all the same */
  readonly store: (record: GenerationRecord) => Promise<void>;
  /** Writes the log line and counts the metrics. Never throws. */
  readonly observe: (record: GenerationRecord) => void;
  /** Classifies what the request is about, of as many as there is time for. Absent: none. Never throws. */
  readonly tag?: ((facts: Pick<RequestFacts<ModelRequest>, 'log' | 'meter'>) => string | undefined) | undefined;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** A generation whose charge is fixed. */
export interface Settlement {
  readonly record: GenerationRecord;
  /** Settles when the charge is durable and what was reserved for it is released. @throws GatewayError 503 when the disk is slow */
  readonly durable: Promise<void>;
}

/**
 * Fixes usage and cost, stores the record, and then releases what was reserved. Each request calls it once, whatever its
 * outcome (exchange.ts): neither a generator's `finally` nor an abort signal may come between the charge and the disk
 * (docs/tour.md, 13).
 */
export function settle(
  deps: SettleDeps,
  facts: RequestFacts<ModelRequest>,
  reservation: Pick<BudgetReservation, 'close'>,
): Settlement {
  facts.report.endedMs ??= deps.clock.monotonicMs();
  const record = recordOf(deps, facts);
  // A key that sends too fast must not fill the database with refusals; what plugins cost before that is owed.
  const isRefusal = record.error?.rateLimit !== undefined && (record.cost?.totalNanoUsd ?? 0) === 0;
  const stored = isRefusal || !facts.log.hasRoom ? Promise.resolve() : deps.store(record);
  // While the disk is at work.
  deps.observe(record);
  // Released before the caller sees the end, so that a request that follows at once finds it so.
  const release = reservation.close();
  if (release === undefined) return { record, durable: stored };
  const releaseAll = (): Promise<void> => release(chargeOf(record), record.usage);
  const releaseAfter = async (error: unknown): Promise<never> => {
    await releaseAll();
    throw error;
  };
  return { record, durable: stored.then(releaseAll, releaseAfter) };
}

/** What is kept of a request that is over. */
export function recordOf({ tag }: Pick<SettleDeps, 'tag'>, facts: RequestFacts<ModelRequest>): GenerationRecord {
  const { log, report, meter } = facts;
  const bill = billOf(facts);
  const { routerChoice } = log;
  const savedNanoUsd =
    routerChoice?.comparedWith === undefined ? undefined : compare(facts, bill, routerChoice.comparedWith);
  return {
    id: log.id,
    requestId: log.requestId,
    request: log.request,
    principal: log.principal,
    endUserId: log.endUserId,
    createdMs: log.createdMs,
    attempts: log.attempts,
    warnings: log.warnings,
    warningsDropped: log.warningsDropped,
    rescues: log.rescues,
    serverTools: log.serverTools,
    steps: log.steps,
    nestedRuns: log.nestedRuns,
    startedBy: log.startedBy,
    origin: log.origin,
    cacheSourceId: log.cacheSourceId,
    error: log.error !== undefined && hasHungUp(facts) ? undefined : log.error,
    capture: log.capture,
    report,
    endpoint: meter.endpoint,
    upstreamId: meter.upstreamId,
    firstTokenMs: meter.firstTokenMs,
    end: meter.end,
    failure: meter.failure,
    cancelled: meter.cancelled,
    media: meter.media,
    dimensions: meter.dimensions,
    served: bill.served,
    usage: bill.usage,
    cost: bill.cost,
    listNanoUsd: bill.listNanoUsd,
    pluginFeesNanoUsd: bill.pluginFeesNanoUsd,
    fileFeesNanoUsd: bill.fileFeesNanoUsd,
    savedNanoUsd,
    taskType: routerChoice?.taskType ?? tag?.(facts),
    router: routerChoice?.router,
    comparedModel: savedNanoUsd === undefined ? undefined : routerChoice?.comparedWith?.model,
  };
}

/** The caller saw no error, and the cut connection is no fault of the provider; a request that was stopped saw one. @spec generation-7 */
function hasHungUp({ log, meter }: RequestFacts<ModelRequest>): boolean {
  return meter.cancelled && meter.failure?.kind === 'aborted' && log.error?.type === 'provider_unavailable';
}

/** What a router's choice saved, the router's own calls of models included. Fees of tools would have been the same. */
function compare(
  { log, report, meter: { end } }: RequestFacts<ModelRequest>,
  { usage, served }: Pick<FinalBill, 'usage' | 'served'>,
  comparedWith: NonNullable<RouterChoice['comparedWith']>,
): number | undefined {
  if (usage === undefined || end === undefined || end.finish === 'error') return undefined;
  // A model that the caller named beside the router was not the router's choice.
  if (!served.every(({ endpoint }) => report.chosen.includes(endpoint.model))) return undefined;
  const spent = totalCost([...served, ...log.nestedRuns].map(({ cost }) => cost));
  if (spent === undefined || spent.isPartial === true) return undefined;
  const { totalNanoUsd } = costOf(comparedWith.price, usage, { atMs: log.createdMs });
  const savedNanoUsd = totalNanoUsd - spent.totalNanoUsd;
  Object.assign(report.params, {
    compared_with: comparedWith.model,
    compared_cost_usd: usdFromNano(totalNanoUsd),
    saved_usd: usdFromNano(savedNanoUsd),
  });
  return savedNanoUsd;
}

/** Calls on the caller's own credentials count at list price, where they count. */
export function chargeOf({ cost, listNanoUsd }: GenerationRecord): Spent {
  return { ownNanoUsd: cost?.totalNanoUsd ?? 0, byokNanoUsd: listNanoUsd ?? 0 };
}

/** What the end of the response reports: the sums over all turns, tools and nested generations. @spec tool-23 */
export function finalUsageOf(
  { cost, usage, serverTools, report }: GenerationRecord,
  facts: RequestFacts<ModelRequest>,
  region: string,
): FinalUsage {
  const { nestedRuns } = facts.log;
  return {
    usage: nestedRuns.map((run) => run.usage).reduce(addNested, withTools(usage ?? NO_USAGE, serverTools)),
    charge: nestedRuns.length === 0 ? cost : totalCost([cost, ...nestedRuns.map((run) => run.cost)]),
    isByok: report.isByok,
    ...(serverTools !== undefined && {
      serverCalls: { requested: serverTools.requested, executed: serverTools.executed },
    }),
    serviceMetadata: metadataOf(facts, region),
  };
}

/** What the model that responds reported of itself stands; of nested generations only the counts are added. */
function addNested(usage: Usage, nested: Usage): Usage {
  const { extra, serviceTier } = usage;
  const { extra: _extra, serviceTier: _tier, ...sum } = addUsage(usage, nested);
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

/** `service_metadata`, where the caller opted in: of a routed request, and of one that a guardrail refused before. @spec error-8 */
export function metadataOf(
  { log: { request, error }, report }: Pick<RequestFacts<ModelRequest>, 'log' | 'report'>,
  region: string,
): ErrorContext['serviceMetadata'] {
  if (!request.directives.serviceMetadata) return undefined;
  const isRefusedByGuardrail = error?.status === 403 && report.pipeline.some(({ type }) => type === 'guardrail');
  return report.routed || isRefusedByGuardrail ? encodeServiceMetadata(report, region) : undefined;
}
