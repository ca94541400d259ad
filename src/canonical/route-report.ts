import type { Json, JsonObject } from '../lib/json.ts';

/** How a request was routed. Routing and the pipeline fill it; `wire/gateway/service-metadata.ts` encodes it. */
export interface RouteReport {
  /** The slug as sent. */
  requested: string;
  strategy:
    | 'direct'
    | 'auto'
    | 'free'
    | 'latest'
    | 'alias'
    | 'fallback'
    | 'pareto'
    | 'bodybuilder'
    | 'fusion'
    | 'switchyard';
  /** Endpoints that were left after the hard filters. */
  available: readonly { readonly provider: string; readonly model: string }[];
  /** Endpoints before them. */
  total: number;
  /** Index into `available` of the one that served. */
  selected: number | undefined;
  /** 1-based number of the attempt that committed; on errors how far it got; 0: never reached a provider. */
  attempt: number;
  isByok: boolean;
  attempts: {
    readonly provider: string;
    readonly model: string;
    readonly status: number;
    /** The masked label of the caller's own credential; absent: the gateway's was used. */
    readonly credential?: string;
  }[];
  pipeline: PipelineStage[];
  /** The parameters of a router, and the model that its choice is compared with. @spec metadata-3 */
  readonly params: Record<string, Json>;
  /** Models that a router chose in the place of a slug: whichever of them serves, `strategy` names the router's. */
  chosen: readonly string[];
  /** Monotonic ms at arrival, and at the end or the failure. */
  arrivedMs: number;
  endedMs: number | undefined;
  /** What the route was chosen from, as it was then; `undefined` before that. */
  plan: PlanFacts | undefined;
  /** False until a route was looked for: errors before that carry no metadata, unless a guardrail refused. */
  routed: boolean;
}

/** The part of an endpoint that tells it from others. */
export interface PlannedEndpoint {
  readonly provider: string;
  readonly providerName: string;
  readonly model: string;
  readonly upstreamModel: string;
  readonly tag?: string | undefined;
}

interface PlannedCandidate {
  readonly endpoint: PlannedEndpoint;
}

/** The part of a plan that a decision is explained by: `routing/route-plan.ts`. */
export interface PlanFacts {
  readonly ordering: string;
  readonly sticky?: string | undefined;
  readonly considered: readonly {
    readonly endpoint: PlannedEndpoint;
    readonly exclusion?: string | undefined;
    readonly lacks?: string | undefined;
    readonly demotion?: string | undefined;
  }[];
  /** In the order to try them. */
  readonly candidates: readonly PlannedCandidate[];
  /** `untilMs`: monotonic. */
  readonly cooling: readonly {
    readonly candidate: PlannedCandidate;
    readonly cooldown: { readonly untilMs: number };
  }[];
}

/** A stage that changed or stopped something. @spec metadata-10 */
export interface PipelineStage {
  readonly type: string;
  readonly name: string;
  readonly summary?: string;
  readonly guardrailId?: string;
  readonly guardrailScope?: string;
  readonly data?: JsonObject;
  /** What the stage itself cost the caller, nano-USD. */
  readonly costNanoUsd?: number;
  /** It is of the response; absent: of the request. */
  readonly isOfResponse?: true;
}

export function openRouteReport(requested: string, arrivedMs: number): RouteReport {
  return {
    requested,
    strategy: 'direct',
    available: [],
    total: 0,
    selected: undefined,
    attempt: 0,
    isByok: false,
    attempts: [],
    pipeline: [],
    params: {},
    chosen: [],
    arrivedMs,
    endedMs: undefined,
    plan: undefined,
    routed: false,
  };
}
