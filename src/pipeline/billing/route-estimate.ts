import type { Room, BudgetEstimate } from '../../accounts/limits/ledger.ts';
import type { Spent } from '../../accounts/limits/spend-limit.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { RequestLog } from '../../telemetry/request-log.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import { BUDGET_TOKENS_MIN, effortOf } from '../../wire/gateway/efforts.ts';
import { limitAsSent } from '../attempt/request/limit-as-sent.ts';
import { answerPriceOf, worstCaseOf, type ResponsePrice, type Offer, type WorstCase } from './cost-estimate.ts';
import type { AdaptRequest, Route } from '../request.ts';

/** An answer without a maximum of its caller's is paid for in parts of so many tokens at the dearest endpoint. @spec money-34, money-37 */
const SLICE_TOKENS = 4_096;
/** What a maximum of ours leaves for the answer beside its reasoning, at least. @spec money-34, money-37 */
const ANSWER_TOKENS_MIN = 1_024;

/** What is to be reserved for the turns of a route. */
export interface RouteEstimate extends BudgetEstimate {
  /** Absent: the answer has a maximum, and what is reserved is its worst case. */
  readonly openEnded?: OpenEnded;
}

/** An answer without a maximum: how long it may be follows from what is reserved. */
export interface OpenEnded {
  readonly delivery: GenerationRequest['delivery'];
  /** The least maximum of a whole answer, in tokens. */
  readonly leastTokens: number;
  readonly sliceNanoUsd: number;
  /** The longest answer that the money pays for at any of the candidates; `Infinity`: the longest that they write. */
  readonly tokensFor: (room: Room) => number;
  readonly priceOf: (candidate: Candidate) => ResponsePrice;
}

/**
 * The most that the route may come to cost. What rests now may be tried after all.
 * @param adapt gives candidates tools of their own to run, and their searches may have a fee
 */
export function estimateOf(
  { id, createdMs }: Pick<RequestLog, 'id' | 'createdMs'>,
  { plan, request }: Route,
  deps: Parameters<typeof limitAsSent>[0],
  adapt: AdaptRequest | undefined,
): RouteEstimate {
  const candidates = [...plan.candidates, ...plan.cooling.map(({ candidate }) => candidate)];
  const adapted = adapt && candidates.map((one) => adapt(request, one)).find((one) => one !== request);
  const originalRequest = adapted ?? request;
  const isOpenEnded = request.settings.maxTokens === undefined;
  const offerOf = (one: Candidate): Offer => ({
    endpoint: one.endpoint,
    maxTokens: limitAsSent(deps, request, one),
    takesNoLimit: isOpenEnded && limitAsSent(deps, withMaximum(request, SLICE_TOKENS), one) === undefined,
  });
  const worstOf = (some: readonly Candidate[]): WorstCase => worstCaseOf(originalRequest, some.map(offerOf), createdMs);
  const own = worstOf(candidates.filter(({ credential }) => credential === undefined));
  const byok = worstOf(candidates.filter(({ credential }) => credential !== undefined));
  const bound = {
    generationId: id,
    worst: spentOf(own.nanoUsd, byok.nanoUsd),
    affordableTokens: (nanoUsd: number) => Math.min(own.affordableTokens(nanoUsd), byok.affordableTokens(nanoUsd)),
  };
  if (!isOpenEnded) return bound;
  const costOf = (tokens: number): Spent => spentOf(own.costOf(tokens), byok.costOf(tokens));
  const leastTokens = leastMaximum(request);
  const slice = Math.max(SLICE_TOKENS, leastTokens);
  const highestCost = (tokens: number): number => Math.max(own.costOf(tokens), byok.costOf(tokens));
  const openEnded: OpenEnded = {
    delivery: request.delivery,
    leastTokens,
    sliceNanoUsd: highestCost(SLICE_TOKENS) - highestCost(0),
    tokensFor: (room) => Math.min(own.affordableTokens(room.ownNanoUsd), byok.affordableTokens(room.byokNanoUsd)),
    priceOf: ({ endpoint }) => answerPriceOf(originalRequest, endpoint, createdMs),
  };
  return request.delivery === 'stream'
    ? { ...bound, worst: costOf(SLICE_TOKENS), least: costOf(1), leastTokens: 1, openEnded }
    : { ...bound, least: costOf(leastTokens), leastTokens, share: costOf(slice), openEnded };
}

/** The same beside what a request under way has spent. */
export function afterSpending(spent: Spent, estimate: RouteEstimate): RouteEstimate {
  const plus = (cost: Spent): Spent => ({
    ownNanoUsd: spent.ownNanoUsd + cost.ownNanoUsd,
    byokNanoUsd: spent.byokNanoUsd + cost.byokNanoUsd,
  });
  const { worst, least, share } = estimate;
  return {
    ...estimate,
    spent,
    worst: plus(worst),
    ...(least !== undefined && { least: plus(least) }),
    ...(share !== undefined && { share: plus(share) }),
  };
}

export function withMaximum(request: GenerationRequest, maxTokens: number): GenerationRequest {
  return { ...request, settings: { ...request.settings, maxTokens } };
}

/** One of them serves: where both count, the dearer one is enough. */
function spentOf(ownNanoUsd: number, byokNanoUsd: number): Spent {
  return { ownNanoUsd, byokNanoUsd: Math.max(0, byokNanoUsd - ownNanoUsd) };
}

/** The least maximum of ours. A budget for reasoning is part of it; an effort takes its share of any, and never less than the least budget. */
export function leastMaximum({ settings: { reasoning } }: GenerationRequest): number {
  const effort = reasoning && effortOf(reasoning, undefined);
  if (reasoning === undefined || effort === undefined || effort === 'none') return ANSWER_TOKENS_MIN;
  return Math.max(reasoning.maxTokens ?? 0, BUDGET_TOKENS_MIN) + ANSWER_TOKENS_MIN;
}
