import { setTimeout as wait } from 'node:timers/promises';
import type { EventSource } from '../canonical/events.ts';
import type { UpstreamFailure } from '../canonical/failure.ts';
import type { GenerationRequest } from '../canonical/request.ts';
import type { PipelineStage, RouteReport } from '../canonical/route-report.ts';
import type { ByteBudget } from '../lib/byte-budget.ts';
import type { Download } from '../lib/download.ts';
import type { RequestFitting } from '../plugins/contract.ts';
import { candidateName, endpointName } from '../routing/endpoint-name.ts';
import type { Health } from '../routing/health.ts';
import type { Candidate, RoutePlan } from '../routing/plan.ts';
import type { EndpointStats } from '../routing/stats.ts';
import { createWalk, type Step, type Walk } from '../routing/walk.ts';
import type { GenerationRecord, OpenAttempt } from '../telemetry/record.ts';
import { makeAttempt, type AttemptParts, type AttemptRequest, type UpstreamEcho } from './attempt.ts';
import type { AttemptOutcome } from './commit-answer.ts';
import { createMediaInliner } from './inline-media.ts';
import { limitAsSent } from './limit-as-sent.ts';
import { isUnreadableReasoning, withoutEncryptedReasoning } from './origin-memory.ts';
import { failedRoute, nothingReady } from './route-errors.ts';

/** An answer that has begun to come: nobody else may try, unless it breaks off and may be gone on with. */
export interface Committed {
  readonly candidate: Candidate;
  readonly source: EventSource;
  /** When the attempt began, and when the answer did, monotonic ms. */
  readonly startedMs: number;
  readonly firstTokenMs: number;
  /** Bodies that went upstream, one an attempt, when the caller asked to see them. It grows with every attempt that follows. */
  readonly echoes: readonly UpstreamEcho[];
}

export interface AttemptsParts extends AttemptParts {
  readonly health: Health;
  readonly stats: Pick<EndpointStats, 'typicalTokens'>;
  readonly download: Download;
  /** For the files of all requests together. */
  readonly fileMemory: ByteBudget;
  /** Monotonic ms. */
  readonly monotonicMs: () => number;
  /** From 0 up to, not including, 1. */
  readonly random: () => number;
}

/** How the candidates that are left go on with an answer that broke off. */
export interface Succession {
  /** What the candidate is asked. */
  ask(candidate: Candidate, request: GenerationRequest): GenerationRequest;
  /** Reads of its answer what it takes to know whether it goes on. @returns what follows, or why it does not */
  admit(candidate: Candidate, source: EventSource): Promise<EventSource | UpstreamFailure>;
  /** Whether it is to be asked again, in another way. */
  asksAgain(candidate: Candidate, failure: UpstreamFailure): boolean;
  /** Who may still try where one said something else. */
  mayFollow(candidate: Candidate): boolean;
}

/** The attempts of one request: one walk through its plan, however often an answer breaks off. */
export interface Attempts {
  /**
   * Tries the candidates in order until one has begun to answer.
   * @throws GatewayError what the last failure means for the caller, with all failures in its metadata
   */
  begin(): Promise<Committed>;
  /** The answer that had begun broke off: tries those that are left. `undefined`: none of them goes on with it. */
  goOn(failure: UpstreamFailure, succession: Succession): Promise<Committed | undefined>;
  /** The request is over, and what was fetched for it can go. */
  close(): void;
}

export interface AttemptsQuestion {
  readonly plan: RoutePlan;
  readonly request: GenerationRequest;
  /** Makes the request fit endpoints that are too small for it. */
  readonly fitting?: RequestFitting | undefined;
  /** What differs from endpoint to endpoint. Absent: nothing. */
  readonly adapt?: ((request: GenerationRequest, candidate: Candidate) => GenerationRequest) | undefined;
  readonly record: GenerationRecord;
  readonly signal: AbortSignal;
  /** Takes the bodies that go upstream, where the caller asked to see them. */
  readonly echoes: UpstreamEcho[];
  /** Told of every candidate that failed. */
  readonly outcome?: { failed(candidate: Candidate): void };
}

export function openAttempts(parts: AttemptsParts, question: AttemptsQuestion): Attempts {
  return new PlannedAttempts(parts, question);
}

/** A class because it lives as long as its request, and changes with every attempt. */
class PlannedAttempts implements Attempts {
  readonly #parts: AttemptsParts;
  readonly #question: AttemptsQuestion;
  readonly #walk: Walk;
  readonly #failures: { readonly candidate: Candidate; readonly failure: UpstreamFailure }[] = [];
  #asked: AttemptRequest;

  constructor(parts: AttemptsParts, question: AttemptsQuestion) {
    const { plan, request, record, echoes } = question;
    const { endUserId, asker } = record;
    this.#parts = parts;
    this.#question = question;
    this.#walk = createWalk(parts, plan);
    const media = createMediaInliner({ download: parts.download, memory: parts.fileMemory });
    const wanted = request.directives.echoUpstreamBody ? echoes : undefined;
    this.#asked = { request, endUserId, accountId: asker.accountId, media, echoes: wanted };
  }

  begin(): Promise<Committed> {
    return this.#proceed(undefined, (last) => this.#fail(last));
  }

  goOn(failure: UpstreamFailure, succession: Succession): Promise<Committed | undefined> {
    this.#walk.failed(failure);
    return this.#proceed(succession, () => undefined);
  }

  close(): void {
    this.#asked.media.close();
  }

  /** @param orElse what comes of it where nobody answers */
  async #proceed<Else>(succession: Succession | undefined, orElse: (last: Step) => Else): Promise<Committed | Else> {
    const { signal } = this.#question;
    for (;;) {
      const step = this.#walk.next();
      if (step.type === 'wait') {
        await wait(step.ms, undefined, { signal }).catch(() => undefined);
        if (!signal.aborted) continue;
      }
      if (step.type !== 'try') return orElse(step);
      const committed = await this.#try(step, succession);
      if (committed !== undefined) return committed;
    }
  }

  #fail(last: Step): never {
    if (this.#failures.length === 0 && last.type === 'stop') throw nothingReady(last.resting, last.readyInMs);
    throw failedRoute(this.#failures, this.#question.request.directives.models);
  }

  async #try(step: Trying, succession: Succession | undefined): Promise<Committed | undefined> {
    const { record, outcome: watch } = this.#question;
    const { candidate } = step;
    const startedMs = this.#parts.monotonicMs();
    const attempt = record.openAttempt(candidate, {
      expectedTokens: () => this.#expectedTokens(candidate),
      tokensMax: () => limitAsSent(this.#parts, this.#asked.request, candidate),
    });
    const { request } = this.#asked;
    const asked = succession === undefined ? request : succession.ask(candidate, request);
    const full = this.#question.adapt?.(asked, candidate) ?? asked;
    const fitted = this.#question.fitting?.fit(full, candidate.endpoint, candidate.format);
    if (fitted !== undefined) attempt.warn([fitted.warning]);
    const commit = (source: EventSource): Committed => {
      attempt.commit();
      if (fitted !== undefined) noteFitted(record.report, fitted.stage);
      return { candidate, source, startedMs, firstTokenMs: this.#parts.monotonicMs(), echoes: this.#question.echoes };
    };
    const first = await this.#ask(step, fitted?.request ?? full, attempt);
    const isJudged = succession === undefined || !first.committed;
    const outcome = isJudged ? first : await this.#admit(candidate, first.source, succession);
    if (outcome.committed) return commit(outcome.source);
    const { failure, partial } = outcome;
    const readable = isUnreadableReasoning(failure) ? withoutEncryptedReasoning(this.#asked.request) : undefined;
    const mayRead = readable !== undefined && readable.warnings.length > 0;
    if (mayRead) {
      // Said once, to whoever comes first: without it nobody has a reason to refuse the request.
      attempt.warn(readable.warnings);
      this.#asked = { ...this.#asked, request: readable.request };
    }
    const isAgain = mayRead || succession?.asksAgain(candidate, failure) === true;
    this.#walk.failed(failure, isAgain ? 'again' : partial === undefined ? undefined : 'no more');
    if (succession !== undefined && failure.kind === 'unspliceable')
      this.#walk.narrow((other) => succession.mayFollow(other));
    watch?.failed(candidate);
    if (partial !== undefined && succession === undefined && this.#walk.isOver()) return commit(partial);
    partial?.cancel();
    attempt.fail(failure);
    this.#failures.push({ candidate, failure });
    return undefined;
  }

  /** How long its answer may be expected to become, as far as the request lets it. */
  #expectedTokens(candidate: Candidate): number | undefined {
    const typical = this.#parts.stats.typicalTokens(endpointName(candidate.endpoint));
    const limit = limitAsSent(this.#parts, this.#asked.request, candidate);
    return typical === undefined || limit === undefined ? typical : Math.min(typical, limit);
  }

  /** Tells health how it went, whatever happens: a probe that nobody ends would keep its endpoint closed. */
  async #ask({ candidate, leave }: Trying, request: GenerationRequest, attempt: OpenAttempt): Promise<AttemptOutcome> {
    const { health } = this.#parts;
    const name = candidateName(candidate);
    const asked = request === this.#asked.request ? this.#asked : { ...this.#asked, request };
    let outcome: AttemptOutcome;
    try {
      outcome = await makeAttempt(this.#parts, candidate, asked, attempt, this.#question.signal);
    } catch (error) {
      health.abandoned(name, leave);
      throw error;
    }
    if (outcome.committed) health.succeeded(name, leave);
    else if (outcome.failure.kind === 'aborted' || outcome.failure.clock === 'total') health.abandoned(name, leave);
    else health.failed(name, outcome.failure, leave);
    return outcome;
  }

  async #admit(candidate: Candidate, source: EventSource, succession: Succession): Promise<AttemptOutcome> {
    const admitted = await succession.admit(candidate, source);
    if ('read' in admitted) return { committed: true, source: admitted };
    source.cancel();
    if (admitted.kind !== 'unspliceable') this.#parts.health.brokeOff(candidateName(candidate), admitted);
    return { committed: false, failure: admitted };
  }
}

/** Told once, as whoever answered last got the request: each of several turns may have to be made to fit. */
function noteFitted({ pipeline }: RouteReport, stage: PipelineStage): void {
  const before = pipeline.findIndex(({ name }) => name === stage.name);
  if (before < 0) pipeline.push(stage);
  else pipeline[before] = stage;
}

type Trying = Extract<Step, { readonly type: 'try' }>;
