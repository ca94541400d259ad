import type { Directives } from '../../canonical/directives.ts';
import type { ModelChoice } from '../../canonical/model-choice.ts';
import type { GenerateNested } from '../../canonical/tools/nested-generation.ts';
import type { Clock } from '../../lib/clock.ts';
import { nanoFromUsd } from '../../lib/money.ts';
import type { ToolAbilities } from '../../tools/contract.ts';
import type { ModelTurns } from '../attempt/model-turns.ts';
import { spentSoFar } from '../billing/final-cost.ts';
import { afterSpending, type RouteEstimate } from '../billing/route-estimate.ts';
import type { ContentFilters } from '../content-filters/content-filters.ts';
import type { RequestFacts, Route, UpstreamResponse } from '../request.ts';
import type { OfferedTools } from './offer-server-tools.ts';
import { readyTools } from './run-tools.ts';
import { loopTools, type LoopInput, type NextCost } from './tool-loop.ts';

export interface ServerToolDeps {
  readonly clock: Clock;
  readonly toolAbilities: ToolAbilities;
  /** For the operator: an assumption of ours that does not hold. */
  readonly onBug: (error: unknown, generationId: string) => void;
}

/** What the turns after the first one go by. */
export interface ServerToolsInput extends Pick<LoopInput, 'facts' | 'signal' | 'codec'> {
  readonly offered: OfferedTools;
  readonly route: Route;
  readonly turns: ModelTurns;
  readonly generateNested: GenerateNested;
  readonly choice: ModelChoice;
  /** Absent: the caller has no filters. */
  readonly filters: ContentFilters | undefined;
  /** The most that a route may come to cost. */
  readonly estimate: (route: Route) => RouteEstimate;
  /** `false`: too little is left. */
  readonly moveReservation: (next: () => RouteEstimate) => Promise<boolean>;
}

/** The response that begins with this turn, over all turns that its calls of server tools take. */
export function runServerTools(
  first: UpstreamResponse,
  deps: ServerToolDeps,
  input: ServerToolsInput,
): UpstreamResponse {
  const { offered, facts, route, turns, filters, estimate, moveReservation, signal, codec } = input;
  const { log, report, meter } = facts;
  const { accountId, workspaceId, keyHash } = log.principal;
  return loopTools(first, {
    request: route.request,
    offered,
    codec,
    facts,
    signal,
    tools: readyTools(offered, {
      principal: { accountId, workspaceId, keyHash },
      model: () => meter.endpoint?.model ?? report.requested,
      nowMs: () => deps.clock.nowMs(),
      monotonicMs: () => deps.clock.monotonicMs(),
      abilities: deps.toolAbilities,
      choice: input.choice,
      budgetNanoUsd: () => budgetLeft(offered.originalRequest.directives, facts),
      note: (stage) => void report.pipeline.push(stage),
    }),
    inspect: (request) => filters?.filterRequest(request) ?? Promise.resolve(request),
    async nextTurn(request, after) {
      const turn = await turns.next(request, after);
      return filters === undefined ? turn : filters.filterResponse(turn);
    },
    fund: ({ charge }, next) => moveReservation(() => afterSpending(charge, nextEstimate(next, route, estimate))),
    generate: input.generateNested,
    monotonicMs: () => deps.clock.monotonicMs(),
    onBug: (error) => deps.onBug(error, log.id),
  });
}

/** Nano-USD, by the strictest of the caller's conditions. @param facts of a request whose last turn has ended */
function budgetLeft({ stopServerToolsWhen = [] }: Directives, facts: RequestFacts): number | undefined {
  const limits = stopServerToolsWhen.flatMap((one) =>
    one.type === 'max_cost' ? nanoFromUsd(one.maxCostInDollars) : [],
  );
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits) - spentSoFar(facts).costNanoUsd);
}

/** What calls of tools cost at most, or a turn of the model. */
function nextEstimate(next: NextCost, route: Route, estimate: (route: Route) => RouteEstimate): RouteEstimate {
  if ('request' in next) return estimate({ ...route, request: next.request });
  const worst = { ownNanoUsd: next.feeNanoUsd, byokNanoUsd: 0 };
  return { generationId: '', worst, affordableTokens: () => 0 };
}
