import { conversationScope } from '../../accounts/principal.ts';
import type { EventSource } from '../../canonical/events.ts';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { PipelineStage, RouteReport } from '../../canonical/route-report.ts';
import type { ByteBudget } from '../../lib/memory/byte-budget.ts';
import type { Download } from '../../lib/net/download.ts';
import type { RequestFitting } from '../../plugins/contract.ts';
import { requestClassOf } from '../../routing/deadlines.ts';
import { candidateName, endpointName } from '../../routing/endpoint-name.ts';
import type { Health } from '../../routing/health.ts';
import type { Candidate, RoutePlan } from '../../routing/route-plan.ts';
import type { EndpointStats } from '../../routing/stats.ts';
import type { CandidateIteratorDeps } from '../../routing/candidate-iterator.ts';
import { AttemptDeadline, type AttemptDeadlineDeps } from './attempt-deadline.ts';
import { AttemptLog } from './attempt-log.ts';
import { makeAttempt, type AttemptDeps, type AttemptRequest } from './attempt.ts';
import type { ResponseBudget, AttemptBudget } from '../billing/response-budget.ts';
import type { AttemptOutcome } from './first-content.ts';
import { ResponseRoom } from '../response/whole-response-budget.ts';
import { couldServe } from './could-serve.ts';
import { MediaInliner } from './request/inline-media.ts';
import { limitAsSent } from './request/limit-as-sent.ts';
import { withoutRefusedReasoning } from '../replay/refused-reasoning.ts';
import { isUnknownTrigger, withOwnSummary } from '../../wire/compaction-request.ts';
import { CandidateWalk, type Trying } from './candidate-walk.ts';
import type { AdaptRequest, RequestFacts, UpstreamEcho, UpstreamResponse } from '../request.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';

export interface FallbackDeps extends AttemptDeps, AttemptDeadlineDeps, Pick<CandidateIteratorDeps, 'retryOf'> {
  readonly health: Health;
  readonly stats: Pick<EndpointStats, 'typicalTokens'>;
  readonly download: Download;
  /** For the files of all requests together. */
  readonly fileMemory: ByteBudget;
  /** For large answers that come as a whole. */
  readonly wholeResponseMemory: ByteBudget;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

/** How the candidates that are left continue a response whose stream broke off. */
export interface Continuation {
  /** What the candidate is sent. */
  requestFor(candidate: Candidate, request: GenerationRequest): GenerationRequest;
  /** Reads as much of its response as it takes to know whether it continues. @returns what follows, or why it does not */
  admit(candidate: Candidate, source: EventSource): Promise<EventSource | UpstreamFailure>;
  /** Whether it is to be tried again, in another way. */
  triesAgain(candidate: Candidate, failure: UpstreamFailure): boolean;
  /** The candidates that may follow one that said something else. */
  mayFollow(candidate: Candidate): boolean;
}

export interface FallbackInput {
  readonly plan: RoutePlan;
  readonly request: GenerationRequest;
  /** Makes the request fit endpoints that are too small for it. */
  readonly fitting?: RequestFitting | undefined;
  /** Absent: the request is the same for every candidate. */
  readonly adapt?: AdaptRequest | undefined;
  /** Absent: the response may become as long as it likes. */
  readonly budget?: ResponseBudget | undefined;
  readonly facts: RequestFacts;
  readonly cancellation: Cancellation;
  /** Takes the bodies that go upstream, where the caller wants to see them. */
  readonly echoes: UpstreamEcho[];
  /** Is called with every candidate that failed. */
  readonly outcome?: { failed(candidate: Candidate): void };
  /** What becomes of the response of the first candidate that responds. Absent: it is handed on as it is. */
  readonly opened?: (response: UpstreamResponse) => UpstreamResponse;
}

/** One candidate's turn, before the call. */
interface PreparedAttempt {
  readonly candidate: Candidate;
  readonly startedMs: number;
  readonly budget: AttemptBudget | undefined;
  readonly attempt: AttemptLog;
  readonly requested: AttemptRequest;
  readonly deadline: AttemptDeadline;
  /** What made the request fit there. */
  readonly fitted: ReturnType<RequestFitting['fit']>;
}

/**
 * The loop over the candidates of one turn: tries one after the other until one responds, and again those that are left when
 * its stream breaks off. A class because it lives as long as its turn, and changes with every attempt.
 */
export class Fallback {
  readonly #deps: FallbackDeps;
  readonly #input: FallbackInput;
  readonly #walk: CandidateWalk;
  #requested: AttemptRequest;
  #media: MediaInliner | undefined;
  #room: ResponseRoom | undefined;

  constructor(deps: FallbackDeps, input: FallbackInput) {
    const { plan, request, facts, echoes } = input;
    const { endUserId, principal, isLarge } = facts.log;
    this.#deps = deps;
    this.#input = input;
    this.#walk = new CandidateWalk(deps, plan, request.directives.models, input.cancellation);
    const media = (): MediaInliner =>
      (this.#media ??= new MediaInliner({ download: deps.download, memory: deps.fileMemory }));
    const room = (): ResponseRoom => (this.#room ??= new ResponseRoom(deps.wholeResponseMemory));
    const wanted = request.directives.echoUpstreamBody ? echoes : undefined;
    const scope = conversationScope(principal);
    this.#requested = { request, isLarge, endUserId, scope, media, room, echoes: wanted };
  }

  /**
   * Tries the candidates in order until one has begun to respond.
   * @throws GatewayError what the last failure means for the caller, with all failures in its metadata
   */
  begin(): Promise<UpstreamResponse> {
    return this.#proceed(undefined);
  }

  /** The stream of the response broke off: tries the candidates that are left. `undefined`: none of them continues it. */
  continueAfter(failure: UpstreamFailure, continuation: Continuation): Promise<UpstreamResponse | undefined> {
    this.#walk.candidates.failed(failure, 'after content');
    return this.#proceed(continuation);
  }

  /** The turn is over: what was fetched for it is released. */
  close(): void {
    this.#media?.close();
    this.#room?.close();
  }

  #proceed(continuation: undefined): Promise<UpstreamResponse>;
  #proceed(continuation: Continuation): Promise<UpstreamResponse | undefined>;
  async #proceed(continuation: Continuation | undefined): Promise<UpstreamResponse | undefined> {
    for (;;) {
      const step = this.#walk.candidates.next();
      if (step.type === 'wait' && (await this.#walk.wait(step.ms))) continue;
      if (step.type !== 'try') return continuation === undefined ? this.#walk.fail(step) : undefined;
      const trying = this.#prepare(step, continuation);
      const { candidate, requested, attempt, deadline } = trying;
      let attempted: AttemptOutcome;
      try {
        attempted = await makeAttempt(this.#deps, candidate, requested, attempt, deadline, this.#input.cancellation);
      } catch (error) {
        this.#walk.abandoned(step);
        throw error;
      }
      this.#walk.ended(step, deadline, trying.startedMs, attempted);
      const first = followed(attempted, trying.budget);
      const isJudged = continuation === undefined || !first.committed;
      const outcome = isJudged ? first : await this.#admit(candidate, first.source, continuation);
      const response = outcome.committed
        ? this.#commit(trying, outcome.source)
        : this.#reject(trying, outcome, continuation);
      if (response === undefined) continue;
      return continuation === undefined ? (this.#input.opened?.(response) ?? response) : response;
    }
  }

  #prepare({ candidate }: Trying, continuation: Continuation | undefined): PreparedAttempt {
    const { facts } = this.#input;
    const startedMs = this.#deps.monotonicMs();
    const budget = this.#input.budget?.open(candidate);
    const attempt = new AttemptLog(facts, candidate, this.#deps.monotonicMs, {
      expectedTokens: () => this.#expectedTokens(candidate, budget),
      tokensMax: () => limitAsSent(this.#deps, this.#requested.request, candidate),
      reservedTokens: budget?.tokensMax,
    });
    const { full, fitted } = this.#requestFor(candidate, continuation);
    if (fitted !== undefined) attempt.warn([fitted.warning]);
    const asked = fitted?.request ?? full;
    const requested = asked === this.#requested.request ? this.#requested : { ...this.#requested, request: asked };
    const deadline = this.#deadlineOf(candidate, asked, continuation);
    return { candidate, startedMs, budget, attempt, requested, deadline, fitted };
  }

  /** A candidate has begun to respond. */
  #commit({ candidate, startedMs, attempt, fitted }: PreparedAttempt, source: EventSource): UpstreamResponse {
    const { facts, echoes } = this.#input;
    attempt.commit();
    if (fitted !== undefined) noteFitted(facts.report, fitted.stage);
    return { candidate, source, startedMs, firstTokenMs: this.#deps.monotonicMs(), echoes };
  }

  /** A candidate has failed. @returns what it gave before, where no other one is left; else the next one is tried */
  #reject(
    prepared: PreparedAttempt,
    { failure, partial }: Extract<AttemptOutcome, { readonly committed: false }>,
    continuation: Continuation | undefined,
  ): UpstreamResponse | undefined {
    const { candidate, attempt } = prepared;
    const isMended = this.#mend(failure, attempt);
    const isAgain = isMended || continuation?.triesAgain(candidate, failure) === true;
    const last = partial === undefined ? undefined : 'no more';
    const then = isAgain ? 'again' : continuation === undefined ? last : (last ?? 'after content');
    const isRetried = this.#walk.candidates.failed(failure, then);
    if (continuation !== undefined && failure.kind === 'unspliceable' && !isAgain)
      this.#walk.candidates.narrow((other) => continuation.mayFollow(other));
    // While the same endpoint is retried, sessions stay with it.
    if (!isRetried) this.#input.outcome?.failed(candidate);
    if (partial !== undefined && continuation === undefined && this.#walk.candidates.isOver())
      return this.#commit(prepared, partial);
    partial?.cancel();
    attempt.fail(failure);
    this.#walk.failed(candidate, failure);
    return undefined;
  }

  /** Takes out of the request what an upstream refused it for, once: without it no candidate has a reason to refuse it. */
  #mend(failure: UpstreamFailure, attempt: AttemptLog): boolean {
    const { request } = this.#requested;
    const mended =
      withoutRefusedReasoning(request, failure) ?? (isUnknownTrigger(failure) ? withOwnSummary(request) : undefined);
    if (mended === undefined || mended.warnings.length === 0) return false;
    attempt.warn(mended.warnings);
    this.#requested = { ...this.#requested, request: mended.request };
    return true;
  }

  /** What a candidate is sent, and what made it fit there. */
  #requestFor(candidate: Candidate, continuation: Continuation | undefined) {
    const { request } = this.#requested;
    const originalRequest = continuation === undefined ? request : continuation.requestFor(candidate, request);
    const full = this.#input.adapt?.(originalRequest, candidate) ?? originalRequest;
    return { full, fitted: this.#input.fitting?.fit(full, candidate.endpoint, candidate.format) };
  }

  /** How long its answer may be expected to become, as far as the request and what is reserved let it. */
  #expectedTokens(candidate: Candidate, budget: AttemptBudget | undefined): number | undefined {
    const typical = this.#deps.stats.typicalTokens(endpointName(candidate.endpoint));
    const sent = limitAsSent(this.#deps, this.#requested.request, candidate) ?? Infinity;
    return typical && Math.min(typical, sent, budget?.tokensMax() ?? Infinity);
  }

  #deadlineOf(
    candidate: Candidate,
    request: GenerationRequest,
    continuation: Continuation | undefined,
  ): AttemptDeadline {
    const { candidates } = this.#walk;
    return new AttemptDeadline(this.#deps, candidate, (endpoint) => requestClassOf(request, endpoint), {
      areLeft: () => candidates.hasAlternative(),
      couldServe: () => candidates.hasAlternative((other) => this.#couldServe(other, continuation)),
    });
  }

  #couldServe(candidate: Candidate, continuation: Continuation | undefined): boolean {
    const { full, fitted } = this.#requestFor(candidate, continuation);
    return couldServe(this.#deps, fitted?.request ?? full, candidate);
  }

  async #admit(candidate: Candidate, source: EventSource, continuation: Continuation): Promise<AttemptOutcome> {
    const admitted = await continuation.admit(candidate, source);
    if ('read' in admitted) return { committed: true, source: admitted };
    source.cancel();
    if (admitted.kind !== 'unspliceable') this.#deps.health.brokeOff(candidateName(candidate), admitted);
    return { committed: false, failure: admitted };
  }
}

function followed(outcome: AttemptOutcome, budget: AttemptBudget | undefined): AttemptOutcome {
  return budget === undefined || !outcome.committed ? outcome : { ...outcome, source: budget.follow(outcome.source) };
}

/** Reported once, as the endpoint that responded last got the request: each of several turns may have to be made to fit. */
function noteFitted({ pipeline }: RouteReport, stage: PipelineStage): void {
  const before = pipeline.findIndex(({ name }) => name === stage.name);
  if (before < 0) pipeline.push(stage);
  else pipeline[before] = stage;
}
