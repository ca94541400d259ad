import type { UpstreamFailure } from '../canonical/failure/failure.ts';
import { candidateName } from './endpoint-name.ts';
import type { Health, Release } from './health.ts';
import { retryDelayMs, type RetryRule } from './retry.ts';
import type { Candidate, RoutePlan } from './route-plan.ts';

/** What to do next. */
export type Step =
  | { readonly type: 'try'; readonly candidate: Candidate; readonly release: Release }
  | { readonly type: 'wait'; readonly ms: number }
  | {
      readonly type: 'stop';
      /** Candidates in cooldown or with an open circuit. */
      readonly resting: readonly Candidate[];
      /** Ms until the first of them may be. */
      readonly readyInMs?: number;
    };

/** The way of one request through its plan: the next candidate, retries, waits and the end. */
export interface CandidateIterator {
  next(): Step;
  /** No candidate is left, now or later. */
  isOver(): boolean;
  /**
   * Whether another candidate may be tried in place of the one under way: one whose circuit is closed, that does not rest,
   * and that could serve. @param couldServe default: each of them
   */
  hasAlternative(couldServe?: (candidate: Candidate) => boolean): boolean;
  /**
   * The candidate of the last `try` failed.
   * @param then retry the same at once with a changed request; or never again, even if it is the only one; or not if
   * others are left, because the caller has content
   * @returns whether the same is tried again
   */
  failed(failure: UpstreamFailure, then?: 'again' | 'no more' | 'after content'): boolean;
  /** From here on only these are tried. */
  narrow(isAllowed: (candidate: Candidate) => boolean): void;
}

export interface CandidateIteratorDeps {
  /** Absent: an endpoint is tried once while others are left. */
  readonly retryOf?: ((candidate: Candidate) => RetryRule | undefined) | undefined;
  readonly health: Health;
  /** Monotonic ms. */
  readonly monotonicMs: () => number;
  /** From 0 up to, not including, 1, so that requests that failed together do not retry together. */
  readonly random: () => number;
}

/** Bound on attempts for one request, whatever the catalog offers. */
const ATTEMPTS_MAX = 32;
/** When all candidates are in cooldown, waiting up to this long for the first is better than refusing. */
const WAIT_MS_MAX = 2_000;
/** Between two checks of an open circuit that another request probes. */
const LOOK_MS = 50;
/** `Retry-After` for a caller that waited for it in vain. */
const RETRY_BUSY_MS = 1_000;

/**
 * Pure except for the health that it reads. Candidates come in the order of the plan. One whose circuit another request
 * is probing is skipped; the only candidate is retried once after a transient failure. @spec fallback-1, fallback-6
 */
export function createCandidateIterator(deps: CandidateIteratorDeps, plan: RoutePlan): CandidateIterator {
  return new PlanWalk(deps, plan);
}

/** A class because it lives as long as its request, and changes with every step. */
class PlanWalk implements CandidateIterator {
  readonly #deps: CandidateIteratorDeps;
  readonly #allowFallbacks: boolean;
  #remaining: readonly Candidate[];
  /** Those whose upstream named a time that is not over. */
  #sleeping: readonly Candidate[];
  #current: Candidate | undefined;
  #attempts = 0;
  #mayAskAgain: boolean;
  /** The candidate that was retried last, and how often. */
  #retried: { readonly name: string; times: number } | undefined;
  #againAtMs: number | undefined;
  #waitedUntilMs: number | undefined;

  constructor(deps: CandidateIteratorDeps, { candidates, cooling, allowFallbacks }: RoutePlan) {
    this.#deps = deps;
    this.#allowFallbacks = allowFallbacks;
    this.#remaining = candidates;
    this.#sleeping = cooling.map(({ candidate }) => candidate);
    this.#mayAskAgain = allowFallbacks && candidates.length + cooling.length === 1;
  }

  next(): Step {
    if (this.#attempts >= ATTEMPTS_MAX) return { type: 'stop', resting: [] };
    const nowMs = this.#deps.monotonicMs();
    if (this.#againAtMs !== undefined && nowMs < this.#againAtMs) return { type: 'wait', ms: this.#againAtMs - nowMs };
    this.#againAtMs = undefined;
    const found = this.#ask();
    if (found === undefined) return this.#waitOrStop(nowMs);
    this.#attempts++;
    this.#current = found.candidate;
    return { type: 'try', candidate: found.candidate, release: found.release };
  }

  isOver(): boolean {
    return this.#remaining.length === 0 || this.#attempts >= ATTEMPTS_MAX;
  }

  hasAlternative(couldServe?: (candidate: Candidate) => boolean): boolean {
    return this.#attempts < ATTEMPTS_MAX && hasAlternative(this.#deps.health, this.#remaining, couldServe);
  }

  failed(failure: UpstreamFailure, then?: 'again' | 'no more' | 'after content'): boolean {
    const candidate = this.#current;
    if (candidate === undefined) return false;
    if (then === 'again') {
      this.#remaining = [candidate, ...this.#remaining];
      return true;
    }
    const retryMs = then === undefined ? this.#delayOfRetry(candidate, failure) : undefined;
    if (retryMs !== undefined) {
      this.#againAtMs = this.#deps.monotonicMs() + retryMs;
      this.#remaining = [withoutProbe(candidate), ...this.#remaining];
      return true;
    }
    const isAllowed = (other: Candidate): boolean => mayTry(other, failure, candidate);
    this.#remaining = this.#remaining.filter(isAllowed);
    this.#sleeping = this.#sleeping.filter(isAllowed);
    const { random, monotonicMs } = this.#deps;
    const mayAskAgain = this.#mayAskAgain && this.#retried === undefined && then !== 'no more';
    const delayMs = mayAskAgain ? retryDelayMs(failure, random(), WAIT_MS_MAX) : undefined;
    this.#mayAskAgain = false;
    if (delayMs === undefined) return false;
    this.#againAtMs = monotonicMs() + delayMs;
    this.#remaining = [withoutProbe(candidate)];
    return true;
  }

  /** Ms until the operator's next retry of a candidate; `undefined`: there is none. */
  #delayOfRetry(candidate: Candidate, failure: UpstreamFailure): number | undefined {
    const rule = this.#deps.retryOf?.(candidate);
    if (rule === undefined || rule.sameEndpoint === 0 || this.#attempts >= ATTEMPTS_MAX) return undefined;
    const name = candidateName(candidate);
    const times = this.#retried?.name === name ? this.#retried.times : 0;
    if (times >= rule.sameEndpoint) return undefined;
    const delayMs = retryDelayMs(failure, this.#deps.random(), rule.waitMsMax);
    if (delayMs !== undefined) this.#retried = { name, times: times + 1 };
    return delayMs;
  }

  narrow(isAllowed: (candidate: Candidate) => boolean): void {
    this.#remaining = this.#remaining.filter(isAllowed);
    this.#sleeping = this.#sleeping.filter(isAllowed);
  }

  /** The first candidate that may be called now. */
  #ask(): { readonly candidate: Candidate; readonly release: Release } | undefined {
    const demoted: Candidate[] = [];
    const kept: Candidate[] = [];
    let found: { readonly candidate: Candidate; readonly release: Release } | undefined;
    for (const candidate of this.#remaining) {
      const name = candidateName(candidate);
      const release = found === undefined ? this.#deps.health.begin(name) : undefined;
      if (release === 'resting') this.#sleeping = [...this.#sleeping, candidate];
      else if (candidate.probe === true && release === 'free' && this.#remaining.length > 1) {
        // Another request was faster to probe it; here it is one of the last.
        this.#deps.health.abandoned(name, release);
        demoted.push(withoutProbe(candidate));
      } else if (release === undefined || release === 'busy') kept.push(candidate);
      else found = { candidate, release };
    }
    this.#remaining = demoted.length === 0 ? kept : [...kept, ...demoted];
    return found;
  }

  /** A request that has made no call waits for candidates in cooldown; for a circuit under probe every request waits a little. */
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
    return this.#deps.health.look(candidateName(candidate)).cooldown?.untilMs ?? -Infinity;
  }
}

/** Whether one of them may be tried now: its circuit is closed, it does not rest, and it could serve. */
export function hasAlternative(
  health: Pick<Health, 'look'>,
  others: readonly Candidate[],
  couldServe: (candidate: Candidate) => boolean = () => true,
): boolean {
  return others.some((candidate) => {
    const { open, cooldown } = health.look(candidateName(candidate));
    return !open && cooldown === undefined && couldServe(candidate);
  });
}

function withoutProbe({ probe: _probe, ...candidate }: Candidate): Candidate {
  return candidate;
}

function mayTry({ endpoint }: Candidate, failure: UpstreamFailure, failed: Candidate): boolean {
  if (failure.mayTry === 'next-model') return endpoint.model !== failed.endpoint.model;
  return failure.mayTry === 'next-endpoint';
}
