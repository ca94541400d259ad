import type { GenerationRequest } from '../../canonical/request.ts';
import type { RequestFitting } from '../../plugins/contract.ts';
import type { Candidate, RoutePlan } from '../../routing/route-plan.ts';
import type { ResponseBudget } from '../billing/response-budget.ts';
import { continuing } from '../failover/failover.ts';
import type { AdaptRequest, RequestFacts, Route, UpstreamEcho, UpstreamResponse } from '../request.ts';
import { Fallback, type FallbackDeps } from './fallback.ts';
import type { RouteOutcome } from '../route/route-outcome.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';

export interface ModelTurnsInput {
  readonly route: Route;
  readonly fitting: RequestFitting | undefined;
  readonly adapt: AdaptRequest | undefined;
  /** Absent: nothing limits the caller. */
  readonly budget: ResponseBudget | undefined;
  readonly facts: RequestFacts;
  readonly outcome: RouteOutcome;
  readonly cancellation: Cancellation;
  /**
   * Mid-stream failover: reserves money for one more endpoint, which continues the response to a request from the text that
   * was delivered. Absent: a stream that breaks off ends there.
   */
  readonly reserveContinuation: ((request: GenerationRequest, delivered: string) => Promise<boolean>) | undefined;
  /** Whether the caller reads so slowly that an upstream may hang up over it. */
  readonly wasCallerSlow: () => boolean;
}

/**
 * The turns of the model for one request: nearly always one, and one more after each round of server tools. A class because
 * it lives as long as its request.
 */
export class ModelTurns {
  readonly #deps: FallbackDeps;
  readonly #input: ModelTurnsInput;
  readonly #echoes: UpstreamEcho[] = [];
  #fallback: Fallback | undefined;

  constructor(deps: FallbackDeps, input: ModelTurnsInput) {
    this.#deps = deps;
    this.#input = input;
  }

  /**
   * The first turn: calls the candidates of the route one after the other, until one responds.
   * @throws GatewayError what the last failure means for the caller
   */
  callWithFallback(): Promise<UpstreamResponse> {
    const { plan, request } = this.#input.route;
    return this.#call(plan, request);
  }

  /** A later turn of the same response, which the endpoint of the last one is called for first. @throws GatewayError like `callWithFallback` */
  next(request: GenerationRequest, after: Candidate): Promise<UpstreamResponse> {
    const { route, facts, outcome } = this.#input;
    facts.meter.turnRequest = request;
    outcome.turnEnded();
    // A large response of this turn must not wait for the memory of the one before.
    this.close();
    return this.#call(startingWith(after, route.plan), request);
  }

  /** The request is over: what was fetched for it is released. */
  close(): void {
    this.#fallback?.close();
    this.#fallback = undefined;
  }

  #call(plan: RoutePlan, turnRequest: GenerationRequest): Promise<UpstreamResponse> {
    const { fitting, adapt, budget, facts, outcome, cancellation, reserveContinuation, wasCallerSlow } = this.#input;
    const { providers } = this.#deps;
    const request = budget?.bound(turnRequest) ?? turnRequest;
    const adaptAndFit: AdaptRequest | undefined =
      budget === undefined ? adapt : (of, candidate) => budget.fit(adapt?.(of, candidate) ?? of, candidate);
    const fallback = new Fallback(this.#deps, {
      plan,
      request,
      fitting,
      adapt: adaptAndFit,
      budget,
      facts,
      cancellation,
      echoes: this.#echoes,
      outcome,
      opened(given) {
        const response = outcome.committed(given);
        if (reserveContinuation === undefined) return response;
        return continuing(response, {
          providers,
          request,
          fallback,
          facts,
          outcome,
          cancellation,
          wasCallerSlow,
          reserve: (delivered) => reserveContinuation(request, delivered),
        });
      },
    });
    this.#fallback = fallback;
    return fallback.begin();
  }
}

/** @spec tool-7, tool-8: the same endpoint; where it fails, the others stand in for this turn */
function startingWith({ probe: _probe, ...first }: Candidate, plan: RoutePlan): RoutePlan {
  const isSame = ({ endpoint, credential }: Candidate): boolean =>
    endpoint === first.endpoint && credential?.id === first.credential?.id;
  const cooling = plan.cooling.filter(({ candidate }) => !isSame(candidate));
  return { ...plan, cooling, candidates: [first, ...plan.candidates.filter((other) => !isSame(other))] };
}
