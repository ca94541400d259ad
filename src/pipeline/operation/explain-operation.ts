import type { Spent } from '../../accounts/limits/spend-limit.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { Operation } from '../../canonical/operation.ts';
import { openRouteReport } from '../../canonical/route-report.ts';
import type { Clock } from '../../lib/clock.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { RoutePlan } from '../../routing/route-plan.ts';
import { encodeServiceMetadata } from '../../wire/gateway/service-metadata.ts';
import { readCallerRules, type RulesDeps } from '../admission/caller-rules.ts';
import { serializePlan } from '../route/serialize-plan.ts';
import { refusalOf, routeOperation, type PlanOperationDeps } from './plan-operation.ts';

export interface ExplainOperationDeps extends PlanOperationDeps, RulesDeps {
  readonly region: string;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly monotonicMs: () => number;
}

/** What a kind says of its money and its tokens. */
export interface OperationEstimate {
  readonly promptTokens: number;
  /** The most that the request may cost at the endpoints of a plan. */
  readonly worst: (plan: RoutePlan, atMs: number) => Spent;
}

const NANO_PER_USD = 1e9;

/**
 * What would happen to a request that is no generation, by the very code that serves it. Nothing is called, and nothing that
 * it names is fetched.
 * @throws GatewayError 400 or 404 for the model, as the request itself would
 */
export async function explainOperation(
  deps: ExplainOperationDeps,
  operation: Operation,
  principal: Principal,
  { promptTokens, worst }: OperationEstimate,
): Promise<JsonObject> {
  const rules = await readCallerRules(deps, principal);
  const nowMs = deps.monotonicMs();
  const [requested = ''] = operation.directives.models;
  const report = openRouteReport(requested, nowMs);
  const route = routeOperation(deps, operation, rules, report);
  const { plan, resolved } = route;
  const refusal = refusalOf(route, operation);
  return {
    requested,
    ordering: plan.ordering,
    models: resolved.models.map(({ slug }) => slug),
    estimated_prompt_tokens: promptTokens,
    ...serializePlan(deps, plan, nowMs, (candidate) => {
      const { endpoint } = candidate;
      const { ownNanoUsd, byokNanoUsd } = worst({ ...plan, candidates: [candidate], cooling: [] }, deps.clock.nowMs());
      return {
        format: endpoint.offers?.[operation.kind] ?? null,
        estimated_cost: endpoint.price === undefined ? null : { max: Math.max(ownNanoUsd, byokNanoUsd) / NANO_PER_USD },
      };
    }),
    ...(refusal !== undefined && { error: { code: refusal.status, message: refusal.message } }),
    service_metadata: encodeServiceMetadata(report, deps.region),
  };
}
