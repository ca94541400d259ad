import type { UpstreamFailure } from '../canonical/failure/failure.ts';
import { candidateName } from './endpoint-name.ts';
import type { Health, Release } from './health.ts';
import { retryDelayMs, type RetryRule } from './retry.ts';
import type { Candidate, RoutePlan } from './route-plan.ts';

/** The next action for a request. */
export type Step =
  | { readonly type: 'try'; readonly candidate: Candidate; readonly release: Release }
  | { readonly type: 'wait'; readonly ms: number }
  | {
      readonly type: 'stop';
      /** Candidates in cooldown or with an open circuit. */
      readonly unavailable: readonly Candidate[];
      /** Ms until the first of them may be called. */
      readonly readyInMs?: number;
    };

/** The way of one request through its plan: the next candidate, retries, waits and the end. */
export interface CandidateIterator {
  next(): Step;
  /** No candidate is left, now or later. */
  isOver(): boolean;
  /**
   * Returns whether another candidate may be tried in place of the current one: its circuit is closed, it is not in
   * cooldown, and it could serve. @param couldServe default: each of them could
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
  return new PlanIterator(deps, plan);
}

/** A class, because it lives as long as its request, and changes with every step. */
class PlanIterator implements CandidateIterator {
  readonly #deps: CandidateIteratorDeps;
  readonly #allowFallbacks: boolean;
  #remaining: readonly Candidate[];
  /** Candidates whose upstream named a time that has not passed. */
  #cooling: readonly Candidate[];
  #current: Candidate | undefined;
  #attempts = 0;
  #mayRetryOnly: boolean;
  /** The candidate that was retried last, with the number of retries. */
  #retried: { readonly name: string; times: number } | undefined;
  #againAtMs: number | undefined;
  #waitedUntilMs: number | undefined;

  constructor(deps: CandidateIteratorDeps, { candidates, cooling, allowFallbacks }: RoutePlan) {
    this.#deps = deps;
    this.#allowFallbacks = allowFallbacks;
    this.#remaining = candidates;
    this.#cooling = cooling.map(({ candidate }) => candidate);
    this.#mayRetryOnly = allowFallbacks && candidates.length + cooling.length === 1;
  }

  next(): Step {
    if (this.#attempts >= ATTEMPTS_MAX) return { type: 'stop', unavailable: [] };
    const nowMs = this.#deps.monotonicMs();
    if (this.#againAtMs !== undefined && nowMs < this.#againAtMs) return { type: 'wait', ms: this.#againAtMs - nowMs };
    this.#againAtMs = undefined;
    const found = this.#take();
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
    this.#cooling = this.#cooling.filter(isAllowed);
    const { random, monotonicMs } = this.#deps;
    const mayRetryOnly = this.#mayRetryOnly && this.#retried === undefined && then !== 'no more';
    const delayMs = mayRetryOnly ? retryDelayMs(failure, random(), WAIT_MS_MAX) : undefined;
    this.#mayRetryOnly = false;
    if (delayMs === undefined) return false;
    this.#againAtMs = monotonicMs() + delayMs;
    this.#remaining = [withoutProbe(candidate)];
    return true;
  }

  /** Returns the ms until the next retry of a candidate by the operator's rule; `undefined`: there is none. */
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
    this.#cooling = this.#cooling.filter(isAllowed);
  }

  /** Takes the first candidate that may be called now. */
  #take(): { readonly candidate: Candidate; readonly release: Release } | undefined {
    const demoted: Candidate[] = [];
    const kept: Candidate[] = [];
    let found: { readonly candidate: Candidate; readonly release: Release } | undefined;
    for (const candidate of this.#remaining) {
      const name = candidateName(candidate);
      const release = found === undefined ? this.#deps.health.begin(name) : undefined;
      if (release === 'cooldown') this.#cooling = [...this.#cooling, candidate];
      else if (candidate.probe === true && release === 'free' && this.#remaining.length > 1) {
        // Another request probes it already; here it becomes one of the last.
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
    const unavailable = [...this.#remaining, ...(this.#attempts === 0 ? this.#cooling : [])];
    if (unavailable.length === 0) return { type: 'stop', unavailable };
    const readyAtMs = Math.min(...this.#cooling.map((candidate) => this.#cooldownEndOf(candidate)));
    const readyInMs = isBusy ? LOOK_MS : Math.max(0, readyAtMs - nowMs);
    this.#waitedUntilMs ??= nowMs + WAIT_MS_MAX;
    if (nowMs + readyInMs > this.#waitedUntilMs || (!this.#allowFallbacks && isBusy))
      return { type: 'stop', unavailable, readyInMs: isBusy ? RETRY_BUSY_MS : readyInMs };
    if (!isBusy) {
      const ready = this.#cooling.filter((candidate) => this.#cooldownEndOf(candidate) <= readyAtMs);
      this.#remaining = ready;
      this.#cooling = this.#cooling.filter((candidate) => !ready.includes(candidate));
    }
    return { type: 'wait', ms: readyInMs };
  }

  #cooldownEndOf(candidate: Candidate): number {
    return this.#deps.health.look(candidateName(candidate)).cooldown?.untilMs ?? -Infinity;
  }
}

/** Returns whether one of them may be tried now: its circuit is closed, it is not in cooldown, and it could serve. */
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
