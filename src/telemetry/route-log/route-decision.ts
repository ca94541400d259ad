import type { PlanFacts, PlannedEndpoint, PipelineStage } from '../../canonical/route-report.ts';
import { serializePrice } from '../../catalog/list-price.ts';
import type { Catalog } from '../../catalog/model.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { usdFromNano } from '../../lib/money.ts';
import type { GenerationRecord } from '../record.ts';

/** Endpoints that one decision lists; a router's slug may stand for hundreds. */
const LISTED_MAX = 200;
/** Members of stages that hold what the caller said, which is kept only with the content. */
const SAID: ReadonlySet<string> = new Set(['query']);

/** How a request was routed, as JSON: every endpoint with what became of it, each attempt, and each stage. */
export function serializeDecision(record: GenerationRecord, catalog: Pick<Catalog, 'find'>): JsonObject {
  const { report, attempts, firstTokenMs } = record;
  const { plan, pipeline, params, arrivedMs, endedMs = arrivedMs } = report;
  const considered = plan?.considered ?? [];
  return {
    requested: report.requested,
    strategy: report.strategy,
    ordering: plan?.ordering ?? null,
    session_held: plan?.sticky !== undefined,
    considered: plan === undefined ? [] : serializeConsidered(plan, record, catalog),
    considered_more: Math.max(0, considered.length - LISTED_MAX),
    attempts: attempts.map(({ provider, providerName, model, status, latencyMs, credential }) => ({
      provider: providerName,
      tag: provider,
      model,
      status,
      latency_ms: latencyMs,
      credential: credential ?? null,
    })),
    stages: pipeline.map(serializeStage),
    params: { ...params },
    first_token_ms: firstTokenMs === undefined ? null : Math.round(firstTokenMs - arrivedMs),
    total_ms: Math.max(0, Math.round(endedMs - arrivedMs)),
  };
}

function serializeConsidered(
  plan: PlanFacts,
  { endpoint: served, attempts, report }: GenerationRecord,
  catalog: Pick<Catalog, 'find'>,
): Json[] {
  const order = new Map(plan.candidates.map(({ endpoint }, at) => [endpoint, at + 1]));
  const resting = new Map(plan.cooling.map(({ candidate, cooldown }) => [candidate.endpoint, cooldown.untilMs]));
  const tried = new Set(attempts.map(({ provider, model }) => `${provider} ${model}`));
  const outcomeOf = (endpoint: PlannedEndpoint, isExcluded: boolean): string => {
    if (isExcluded) return 'excluded';
    if (isSame(endpoint, served)) return 'served';
    if (tried.has(`${endpoint.provider} ${endpoint.model}`)) return 'failed';
    return resting.has(endpoint) ? 'resting' : 'not_needed';
  };
  return plan.considered.slice(0, LISTED_MAX).map(({ endpoint, exclusion, lacks, demotion }) => {
    const restUntilMs = resting.get(endpoint);
    const known = catalog.find(endpoint.model)?.endpoints.find((each) => each === endpoint);
    return {
      provider: endpoint.providerName,
      tag: endpoint.tag ?? endpoint.provider,
      model: endpoint.model,
      upstream_model: endpoint.upstreamModel,
      outcome: outcomeOf(endpoint, exclusion !== undefined),
      order: order.get(endpoint) ?? null,
      reason: exclusion ?? null,
      lacks: lacks ?? null,
      demoted_by: demotion ?? null,
      rest_ms: restUntilMs === undefined ? null : Math.max(0, Math.round(restUntilMs - report.arrivedMs)),
      price: known?.price === undefined ? null : serializePrice(known.price),
    };
  });
}

function isSame(
  one: PlannedEndpoint,
  other: Pick<PlannedEndpoint, 'provider' | 'model' | 'upstreamModel'> | undefined,
): boolean {
  return one.provider === other?.provider && one.model === other.model && one.upstreamModel === other.upstreamModel;
}

function serializeStage({
  type,
  name,
  summary,
  guardrailId,
  guardrailScope,
  data,
  costNanoUsd,
}: PipelineStage): JsonObject {
  return {
    type,
    name,
    summary: summary ?? null,
    guardrail_id: guardrailId ?? null,
    guardrail_scope: guardrailScope ?? null,
    data: data === undefined ? null : withoutSaid(data),
    cost: costNanoUsd === undefined ? null : usdFromNano(costNanoUsd),
  };
}

function withoutSaid(data: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(data).filter(([name]) => !SAID.has(name)));
}
