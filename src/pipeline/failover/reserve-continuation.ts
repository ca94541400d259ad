import { GatewayError } from '../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { BudgetReservation } from '../admission/budget-reservation.ts';
import { spentSoFar } from '../billing/final-cost.ts';
import { afterSpending, type RouteEstimate } from '../billing/route-estimate.ts';
import type { CallerRules, RequestFacts, Route } from '../request.ts';
import { toLongestContinuationRequest } from './request-continuation.ts';

export interface ReserveContinuationInput {
  readonly route: Route;
  readonly estimate: (route: Route) => RouteEstimate;
  readonly facts: RequestFacts;
  readonly reservation: BudgetReservation;
  readonly rules: CallerRules;
}

/**
 * Reserves money for one more endpoint that continues a response: it reads what the caller has, and may write all of it
 * again. `false`: too little is left, or the rest is unknown, and the response ends where it broke off.
 */
export async function reserveContinuation(
  { route, estimate, facts, reservation, rules: { limits } }: ReserveContinuationInput,
  request: GenerationRequest,
  delivered: string,
): Promise<boolean> {
  const next = (): RouteEstimate => estimate({ ...route, request: toLongestContinuationRequest(request, delivered) });
  if (reservation.budget === undefined) return reservation.further.add(limits, next);
  const { charge } = spentSoFar(facts);
  try {
    return await reservation.move(limits, () => afterSpending(charge, next()));
  } catch (error) {
    if (error instanceof GatewayError) return false;
    throw error;
  }
}
