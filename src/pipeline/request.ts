// The types of the path of a request: what one step hands to the next.
import type { Policy } from '../accounts/policy/policy.ts';
import type { Principal } from '../accounts/principal.ts';
import type { RequestPermit } from '../accounts/limits/rate-limits.ts';
import type { SpendLimit } from '../accounts/limits/spend-limit.ts';
import type { EventSource } from '../canonical/events.ts';
import type { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationOrigin } from '../canonical/generation-origin.ts';
import type { ModelRequest } from '../canonical/operation.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { RouteReport } from '../canonical/route-report.ts';
import type { Model } from '../catalog/model.ts';
import type { JsonObject } from '../lib/json.ts';
import type { CredentialsOf, Candidate, RoutePlan, Shortcut } from '../routing/route-plan.ts';
import type { Session } from '../routing/sticky.ts';
import type { RequestLog, StepOfGeneration } from '../telemetry/request-log.ts';
import type { ResponseMeter } from '../telemetry/response-meter.ts';
import type { ClientFormat, ErrorContext, FinalUsage } from '../wire/format.ts';

/** One request, authenticated and decoded. */
export interface IncomingRequest {
  readonly id: string;
  readonly request: GenerationRequest;
  readonly principal: Principal;
  /** Monotonic ms. */
  readonly arrivedMs: number;
  /** The permit for one of the requests that may be under way at a time; absent: their number is not limited. */
  readonly place?: RequestPermit | undefined;
  /** Its body is large: what takes time by its size is done in steps (lib/loop-turns.ts). */
  readonly isLarge?: boolean;
  /** Set for a generation inside another one. */
  readonly nested?: NestedContext;
  /** Keeps the response for later requests. Absent: it is not kept. */
  readonly keep?: KeepResponse | undefined;
  /** What made it; absent: a request of a caller. */
  readonly origin?: GenerationOrigin | undefined;
  /** Set for a run in the background, whose caller has gone on meanwhile. */
  readonly background?: BackgroundRun;
}

/** A response that runs in the background. */
export interface BackgroundRun {
  /** The generation id that its caller was given: a second run is recorded under another one. */
  readonly generationId: string;
  /** Unix ms. */
  readonly acceptedMs: number;
  /** Of its next event. */
  readonly nextEvent: number;
  /** Bound on the run, ms. */
  readonly totalMs: number;
}

/**
 * Keeps a response that has ended, as its caller sees it. Resolves to whether it is kept, and never rejects.
 * @param isCancelled its caller did not wait for the end
 */
export type KeepResponse = (response: JsonObject, isCancelled: boolean) => Promise<boolean>;

/** What a generation is given that runs inside another one. */
export interface NestedContext {
  /** The id of the outermost request, which all records of it share. */
  readonly requestId: string;
  /** The step of the generation outside that runs it. */
  readonly startedBy: StepOfGeneration | undefined;
  /** How many generations it is inside of, at least 1. */
  readonly depth: number;
  /** The most that it may cost, nano-USD. */
  readonly budgetNanoUsd: number | undefined;
  /** Types of server tools that it is not offered. */
  readonly withoutTools: ReadonlySet<string>;
  /** Generations inside the outermost request so far, however deep. */
  readonly runs: { count: number };
  /** A judge of the request outside, which reads what the filters have left of it: it is not filtered again. */
  readonly isJudge?: true;
  /** Is called with its usage and cost once it is settled, whatever its outcome. */
  readonly ended: (finalUsage: FinalUsage) => void;
}

/** Responds to the caller in every case; settles when the response was handed over and its charge is durable. Never rejects. */
export type Generate = (incoming: IncomingRequest, format: ClientFormat, writer: ResponseWriter) => Promise<void>;

/** Takes the bytes of a response: an HTTP response, a generation that runs this one inside of it, or a test. */
export interface ResponseWriter {
  /** Calls back, once, when the caller hangs up before the response has ended; at once if that has happened. */
  onGone(listener: () => void): void;
  /** True once status and headers have left: from then on errors travel inside the stream. */
  readonly started: boolean;
  /** Headers that leave with a response, whenever that is; not with an error. */
  announce(headers: Readonly<Record<string, string>>): void;
  /** Sends status 200 and the headers of an event stream. Only the first call counts. */
  startStream(generationId: string): void;
  /** Sends frames. False when the caller reads too slowly: wait for `drained` before the next. */
  write(frames: string): boolean;
  /** Settles when the caller has caught up or is gone, and when the signal aborts. */
  drained(signal: AbortSignal): Promise<void>;
  /** Sends the last frames and ends the response. */
  end(frames: string): void;
  /** Sends a whole response, status 200, JSON. */
  answer(generationId: string, json: string): void;
  /** Sends an error as the whole response; only before `started`. */
  refuse(error: GatewayError, context: ErrorContext): void;
}

/**
 * Why a request ends before its response does: the caller hung up (`gone`), its total time is over (`total`), an operator or
 * its key stopped it (`stopped`), or it is over already (`over`).
 */
export type RequestEnd = 'gone' | 'total' | 'stopped' | 'over';

/** Where the steps write down what they do: each step is given the parts that it writes. */
export interface RequestFacts<Request extends ModelRequest = GenerationRequest> {
  readonly log: RequestLog<Request>;
  readonly report: RouteReport;
  readonly meter: ResponseMeter;
}

/** The rules that the account, the workspace and the key set for a request. */
export interface CallerRules {
  /** Tells conversations of one workspace from those of others. */
  readonly scope: string;
  readonly policy: Policy;
  /** Bounds on spending, in the order in which they are checked. @spec money-27 */
  readonly limits: readonly SpendLimit[];
  /** Whether one of them limits it. */
  readonly isLimited: boolean;
  /** The account's own credentials for providers. */
  readonly credentials: CredentialsOf;
}

/** Models and endpoints that may serve one request. */
export interface Route {
  readonly plan: RoutePlan;
  /** The request as it goes on: a suffix of the model's slug may have changed it. */
  readonly request: GenerationRequest;
  readonly resolved: ResolvedModels;
  readonly session: Session | undefined;
}

/** The models that the slugs of a request name. */
export interface ResolvedModels {
  /** In the order to try them. */
  readonly models: readonly Model[];
  readonly shortcuts: ReadonlyMap<Model, Shortcut>;
  /** How a model was found, where it was not by its own name. */
  readonly strategies: ReadonlyMap<Model, RouteReport['strategy']>;
  /** The number of slugs. */
  readonly requestedCount: number;
  /** The first one does not exist: any model that serves is a fallback. */
  readonly isFirstMissing: boolean;
  /** A slug ends in `:thinking`. */
  readonly wantsReasoning: boolean;
}

/** Changes a request for one candidate: tools that an endpoint runs itself differ from one to the other. */
export type AdaptRequest = (request: GenerationRequest, candidate: Candidate) => GenerationRequest;

/** A response that has begun to come from upstream. */
export interface UpstreamResponse {
  readonly candidate: Candidate;
  readonly source: EventSource;
  /** When the attempt began, monotonic ms. */
  readonly startedMs: number;
  /** When the response began, monotonic ms. */
  readonly firstTokenMs: number;
  /** Bodies that went upstream, one an attempt, where the caller wants to see them. It grows with later attempts. */
  readonly echoes: readonly UpstreamEcho[];
}

/** A body that went upstream, without credentials. */
export interface UpstreamEcho {
  /** Display name. */
  readonly provider: string;
  readonly body: JsonObject;
}
