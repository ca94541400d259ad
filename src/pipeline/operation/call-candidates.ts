import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { Operation } from '../../canonical/operation.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';
import type { ByteBudget } from '../../lib/memory/byte-budget.ts';
import type { CandidateIteratorDeps } from '../../routing/candidate-iterator.ts';
import { operationClassOf } from '../../routing/deadlines.ts';
import type { Candidate, RoutePlan } from '../../routing/route-plan.ts';
import type { Vector } from '../../wire/embeddings/vectors.ts';
import { AttemptDeadline, type AttemptDeadlineDeps } from '../attempt/attempt-deadline.ts';
import { AttemptLog } from '../attempt/attempt-log.ts';
import { CandidateWalk, type Trying } from '../attempt/candidate-walk.ts';
import type { OneCallDeps } from './one-call.ts';
import { upstreamOf, type UpstreamDeps } from '../attempt/upstream.ts';
import type { RequestFacts } from '../request.ts';
import { embedInParts } from './embed-in-parts.ts';

export interface CallDeps extends UpstreamDeps, AttemptDeadlineDeps, CandidateIteratorDeps, OneCallDeps {
  readonly monotonicMs: () => number;
  /** For large answers. */
  readonly wholeResponseMemory: ByteBudget;
}

/** What one candidate gave for all inputs. */
export interface GivenVectors {
  readonly vectors: readonly Vector[];
  /** As the upstream counted; absent: it did not. */
  readonly promptTokens: number | undefined;
  readonly upstreamId: string | undefined;
}

export interface ServedOperation extends GivenVectors {
  readonly candidate: Candidate;
  /** When the attempt began, monotonic ms. */
  readonly startedMs: number;
}

interface CallInput {
  readonly plan: RoutePlan;
  readonly request: Operation;
  readonly facts: RequestFacts<Operation>;
  readonly cancellation: Cancellation<'gone' | 'total' | 'over'>;
}

type Outcome =
  | { readonly committed: true; readonly given: GivenVectors }
  | { readonly committed: false; readonly failure: UpstreamFailure };

/**
 * Tries the candidates in order until one has served all of it: vectors of two deployments may differ in the last digits.
 * @throws GatewayError what the last failure means for the caller, with all failures in its metadata
 */
export function callCandidates(deps: CallDeps, input: CallInput): Promise<ServedOperation> {
  const { plan, request, cancellation } = input;
  const walk = new CandidateWalk(deps, plan, request.directives.models, cancellation);
  return walk.proceed(
    (step) => tryCandidate(deps, input, walk, step),
    (last) => walk.fail(last),
  );
}

async function tryCandidate(
  deps: CallDeps,
  { request, facts, cancellation }: CallInput,
  walk: CandidateWalk,
  step: Trying,
): Promise<ServedOperation | undefined> {
  const { candidate } = step;
  const startedMs = deps.monotonicMs();
  const attempt = new AttemptLog(facts, candidate, deps.monotonicMs);
  const deadline = new AttemptDeadline(deps, candidate, () => operationClassOf(request), {
    areLeft: () => walk.candidates.hasAlternative(),
    couldServe: () => walk.candidates.hasAlternative(),
  });
  const outcome = await walk.observe(step, deadline, async (): Promise<Outcome> => {
    const upstream = await upstreamOf(deps, candidate);
    if ('kind' in upstream) return { committed: false, failure: upstream };
    const { endUserId } = facts.log;
    const given = await embedInParts(deps, { ...upstream, request, endUserId, attempt, deadline, cancellation });
    return 'kind' in given ? { committed: false, failure: given } : { committed: true, given };
  });
  if (outcome.committed) {
    attempt.commit();
    return { ...outcome.given, candidate, startedMs };
  }
  const { failure } = outcome;
  walk.candidates.failed(failure);
  attempt.fail(failure);
  walk.failed(candidate, failure);
  return undefined;
}
