import { setTimeout as wait } from 'node:timers/promises';
import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';
import { candidateName } from '../../routing/endpoint-name.ts';
import type { Candidate, RoutePlan } from '../../routing/route-plan.ts';
import {
  createCandidateIterator,
  type CandidateIterator,
  type CandidateIteratorDeps,
  type Step,
} from '../../routing/candidate-iterator.ts';
import { failedRoute, nothingReady } from '../route/route-errors.ts';
import type { AttemptDeadline } from './attempt-deadline.ts';

/** One candidate's turn, and how its health learns of the end. */
export type Trying = Extract<Step, { readonly type: 'try' }>;

/** How an attempt ended: with something to deliver, or with a failure. */
type Attempted = { readonly committed: true } | { readonly committed: false; readonly failure: UpstreamFailure };

/**
 * The way over the candidates of one plan, one after the other until one serves: waits, reports to health, and what is said
 * where none serves. A class because it lives as long as what it serves, and changes with every attempt.
 */
export class CandidateWalk {
  readonly candidates: CandidateIterator;
  readonly #deps: CandidateIteratorDeps;
  readonly #cancellation: Cancellation;
  readonly #requested: readonly string[];
  readonly #failures: { readonly candidate: Candidate; readonly failure: UpstreamFailure }[] = [];

  /** @param requested the slugs of the request, for its error */
  constructor(deps: CandidateIteratorDeps, plan: RoutePlan, requested: readonly string[], cancellation: Cancellation) {
    this.#deps = deps;
    this.#cancellation = cancellation;
    this.#requested = requested;
    this.candidates = createCandidateIterator(deps, plan);
  }

  /** @returns whether the request goes on after the wait */
  async wait(ms: number): Promise<boolean> {
    await wait(ms, undefined, { signal: this.#cancellation.signal }).catch(() => undefined);
    return !this.#cancellation.aborted;
  }

  /** Reports to health how an attempt goes, whatever happens. Generations spare its promise: they call what it calls. */
  async observe<Outcome extends Attempted>(
    step: Trying,
    deadline: Pick<AttemptDeadline, 'answered' | 'failed'>,
    startedMs: number,
    attempt: Promise<Outcome>,
  ): Promise<Outcome> {
    let outcome: Outcome;
    try {
      outcome = await attempt;
    } catch (error) {
      this.abandoned(step);
      throw error;
    }
    this.ended(step, deadline, startedMs, outcome);
    return outcome;
  }

  /** Reports to health how it went: a probe that does not end would keep its endpoint closed. @param startedMs of the attempt */
  ended(
    { candidate, release }: Trying,
    deadline: Pick<AttemptDeadline, 'answered' | 'failed'>,
    startedMs: number,
    outcome: Attempted,
  ): void {
    const { health, monotonicMs } = this.#deps;
    const name = candidateName(candidate);
    if (outcome.committed) {
      deadline.answered();
      health.succeeded(name, release);
      return;
    }
    const { failure } = outcome;
    deadline.failed(failure.cutAfterMs);
    if (failure.kind === 'aborted' || failure.clock === 'total') health.abandoned(name, release);
    else health.failed(name, { ...failure, lastedMs: monotonicMs() - startedMs }, release);
  }

  /** Instead of `ended`, where an attempt threw. */
  abandoned({ candidate, release }: Trying): void {
    this.#deps.health.abandoned(candidateName(candidate), release);
  }

  /** Keeps why a candidate did not serve, for the error. */
  failed(candidate: Candidate, failure: UpstreamFailure): void {
    this.#failures.push({ candidate, failure });
  }

  /** @throws GatewayError what the last failure means for the caller, with all failures in its metadata */
  fail(last: Step): never {
    if (this.#failures.length === 0 && last.type === 'stop') throw nothingReady(last.unavailable, last.readyInMs);
    throw failedRoute(inOrderOfWeight(this.#failures), this.#requested);
  }
}

/** The last one decides: an endpoint that was not even called, since its format cannot express the request, is none of these. */
function inOrderOfWeight<Failed extends { readonly failure: UpstreamFailure }>(
  failures: readonly Failed[],
): readonly Failed[] {
  const isUncalled = ({ failure }: Failed): boolean => failure.kind === 'unsayable';
  return [...failures.filter(isUncalled), ...failures.filter((failed) => !isUncalled(failed))];
}
