import type { UpstreamFailure } from '../canonical/failure.ts';
import { candidateName } from './endpoint-name.ts';
import type { Health, Leave } from './health.ts';
import type { Candidate, RoutePlan } from './plan.ts';

/** What to do next. */
export type Step =
  | { readonly type: 'try'; readonly candidate: Candidate; readonly leave: Leave }
  | { readonly type: 'wait'; readonly ms: number }
  | {
      readonly type: 'stop';
      /** Those that could not be asked. */
      readonly resting: readonly Candidate[];
      /** Ms until the first of them may be. */
      readonly readyInMs?: number;
    };

/** The way of one request through its plan: whom to ask next, whom to ask again, when to wait and when to give up. */
export interface Walk {
  next(): Step;
  /** Nobody is left to ask, now or later. */
  isOver(): boolean;
  /**
   * The candidate of the last `try` failed.
   * @param then ask the same at once, with a changed request; or ask it no more, even if it is all there is
   */
  failed(failure: UpstreamFailure, then?: 'again' | 'no more'): void;
  /** From here on only these are asked. */
  narrow(isAllowed: (candidate: Candidate) => boolean): void;
}

export interface WalkParts {
  readonly health: Health;
  /** Monotonic ms. */
  readonly monotonicMs: () => number;
  /** From 0 up to, not including, 1: so that those who failed together do not come back together. */
  readonly random: () => number;
}

/** Bound on attempts for one request, whatever the catalog offers. */
const ATTEMPTS_MAX = 32;
/** When everything rests, waiting this long for the first to wake beats refusing. */
const WAIT_MS_MAX = 2_000;
/** Between two looks at an open circuit that somebody else probes. */
const LOOK_MS = 50;
/** What a caller is told who waited for it in vain. */
const RETRY_BUSY_MS = 1_000;
/** Before one endpoint that is all there is gets its second try. */
const AGAIN_MS_MIN = 100;
const AGAIN_MS_SPREAD = 200;

/**
 * Pure but for the health it asks. Candidates are asked in the order of the plan; one whose circuit another request is
 * probing is passed by; one that is all there is gets one more try after a failure that may pass. @source pains.md 1 to 9
 */
export function createWalk(parts: WalkParts, plan: RoutePlan): Walk {
  return new PlanWalk(parts, plan);
}

/** A class because it lives as long as its request, and changes with every step. */
class PlanWalk implements Walk {
  readonly #parts: WalkParts;
  readonly #allowFallbacks: boolean;
  #remaining: readonly Candidate[];
  /** Those whose upstream named a time that is not over. */
  #sleeping: readonly Candidate[];
  #current: Candidate | undefined;
  #attempts = 0;
  #mayAskAgain: boolean;
  #againAtMs: number | undefined;
  #waitedUntilMs: number | undefined;

  constructor(parts: WalkParts, { candidates, cooling, allowFallbacks }: RoutePlan) {
    this.#parts = parts;
    this.#allowFallbacks = allowFallbacks;
    this.#remaining = candidates;
    this.#sleeping = cooling.map(({ candidate }) => candidate);
    this.#mayAskAgain = allowFallbacks && candidates.length + cooling.length === 1;
  }

  next(): Step {
    if (this.#attempts >= ATTEMPTS_MAX) return { type: 'stop', resting: [] };
    const nowMs = this.#parts.monotonicMs();
    if (this.#againAtMs !== undefined && nowMs < this.#againAtMs) return { type: 'wait', ms: this.#againAtMs - nowMs };
    this.#againAtMs = undefined;
    const found = this.#ask();
    if (found === undefined) return this.#waitOrStop(nowMs);
    this.#attempts++;
    this.#current = found.candidate;
    return { type: 'try', candidate: found.candidate, leave: found.leave };
  }

  isOver(): boolean {
    return this.#remaining.length === 0 || this.#attempts >= ATTEMPTS_MAX;
  }

  failed(failure: UpstreamFailure, then?: 'again' | 'no more'): void {
    const candidate = this.#current;
    if (candidate === undefined) return;
    if (then === 'again') {
      this.#remaining = [candidate, ...this.#remaining];
      return;
    }
    const isAllowed = (other: Candidate): boolean => mayTry(other, failure, candidate);
    this.#remaining = this.#remaining.filter(isAllowed);
    this.#sleeping = this.#sleeping.filter(isAllowed);
    const { random, monotonicMs } = this.#parts;
    const delayMs = this.#mayAskAgain && then !== 'no more' ? delayOf(failure, random()) : undefined;
    this.#mayAskAgain = false;
    if (delayMs === undefined) return;
    this.#againAtMs = monotonicMs() + delayMs;
    this.#remaining = [withoutProbe(candidate)];
  }

  narrow(isAllowed: (candidate: Candidate) => boolean): void {
    this.#remaining = this.#remaining.filter(isAllowed);
    this.#sleeping = this.#sleeping.filter(isAllowed);
  }

  /** The first whom one may ask now. */
  #ask(): { readonly candidate: Candidate; readonly leave: Leave } | undefined {
    const demoted: Candidate[] = [];
    const kept: Candidate[] = [];
    let found: { readonly candidate: Candidate; readonly leave: Leave } | undefined;
    for (const candidate of this.#remaining) {
      const name = candidateName(candidate);
      const leave = found === undefined ? this.#parts.health.begin(name) : undefined;
      if (leave === 'resting') this.#sleeping = [...this.#sleeping, candidate];
      else if (candidate.probe === true && leave === 'free' && this.#remaining.length > 1) {
        // Somebody else was faster to look; here it is one of the last.
        this.#parts.health.abandoned(name, leave);
        demoted.push(withoutProbe(candidate));
      } else if (leave === undefined || leave === 'busy') kept.push(candidate);
      else found = { candidate, leave };
    }
    this.#remaining = demoted.length === 0 ? kept : [...kept, ...demoted];
    return found;
  }

  /** Only who has asked nobody waits for those that rest; for a circuit that another probes everybody waits a little. */
  #waitOrStop(nowMs: number): Step {
    const isBusy = this.#remaining.length > 0;
    const resting = [...this.#remaining, ...(this.#attempts === 0 ? this.#sleeping : [])];
    if (resting.length === 0) return { type: 'stop', resting };
    const wakesMs = Math.min(...this.#sleeping.map((candidate) => this.#restOf(candidate)));
    const readyInMs = isBusy ? LOOK_MS : Math.max(0, wakesMs - nowMs);
    this.#waitedUntilMs ??= nowMs + WAIT_MS_MAX;
    if (nowMs + readyInMs > this.#waitedUntilMs || (!this.#allowFallbacks && isBusy))
      return { type: 'stop', resting, readyInMs: isBusy ? RETRY_BUSY_MS : readyInMs };
    if (!isBusy) {
      const awake = this.#sleeping.filter((candidate) => this.#restOf(candidate) <= wakesMs);
      this.#remaining = awake;
      this.#sleeping = this.#sleeping.filter((candidate) => !awake.includes(candidate));
    }
    return { type: 'wait', ms: readyInMs };
  }

  #restOf(candidate: Candidate): number {
    return this.#parts.health.look(candidateName(candidate)).cooldown?.untilMs ?? -Infinity;
  }
}

function withoutProbe({ probe: _probe, ...candidate }: Candidate): Candidate {
  return candidate;
}

function mayTry({ endpoint }: Candidate, failure: UpstreamFailure, failed: Candidate): boolean {
  if (failure.mayTry === 'next-model') return endpoint.model !== failed.endpoint.model;
  return failure.mayTry === 'next-endpoint';
}

const PASSING_STATUSES: ReadonlySet<number> = new Set([500, 502, 503, 529]);

/**
 * How long to wait before the only endpoint is asked again; `undefined`: not at all. Who was silent is left, not asked
 * twice (pains.md 7); who named a time is asked when it is over, if that is soon.
 */
function delayOf(failure: UpstreamFailure, random: number): number | undefined {
  const { kind, upstreamStatus, retryAfterMs } = failure;
  const jitterMs = AGAIN_MS_MIN + random * AGAIN_MS_SPREAD;
  if (retryAfterMs !== undefined && (upstreamStatus === 429 || PASSING_STATUSES.has(upstreamStatus ?? 0)))
    return retryAfterMs <= WAIT_MS_MAX ? retryAfterMs + jitterMs : undefined;
  const isPassing =
    kind === 'connect' || kind === 'reset' || kind === 'early-end' || PASSING_STATUSES.has(upstreamStatus ?? 0);
  return isPassing && failure.mayTry === 'next-endpoint' ? jitterMs : undefined;
}
