import type { UpstreamFailure } from '../../canonical/failure/failure.ts';
import type { Operation } from '../../canonical/operation.ts';
import type { Cancellation } from '../../lib/async/cancellation.ts';
import type { ByteBudget } from '../../lib/memory/byte-budget.ts';
import type { CandidateIteratorDeps } from '../../routing/candidate-iterator.ts';
import { operationClassOf } from '../../routing/deadlines.ts';
import type { Candidate, RoutePlan } from '../../routing/route-plan.ts';
import type { Provider } from '../../providers/contract.ts';
import type { Endpoint } from '../../catalog/model.ts';
import { AttemptDeadline, type AttemptDeadlineDeps } from '../attempt/attempt-deadline.ts';
import { AttemptLog } from '../attempt/attempt-log.ts';
import { CandidateWalk, type Trying } from '../attempt/candidate-walk.ts';
import { AnswerMemory } from './answer-memory.ts';
import type { OneCallDeps } from './one-call.ts';
import { upstreamOf, type UpstreamDeps } from '../attempt/upstream.ts';
import type { RequestEnd, RequestFacts } from '../request.ts';

export interface CallDeps extends UpstreamDeps, AttemptDeadlineDeps, CandidateIteratorDeps, OneCallDeps {
  readonly monotonicMs: () => number;
  /** For large answers. */
  readonly wholeResponseMemory: ByteBudget;
}

/** One candidate's turn to serve an operation. */
export interface CandidateCall<Op extends Operation> {
  readonly provider: Provider;
  /** As it is called there. */
  readonly endpoint: Endpoint;
  readonly request: Op;
  readonly endUserId: string;
  readonly attempt: AttemptLog;
  readonly deadline: AttemptDeadline;
  readonly cancellation: Cancellation<RequestEnd>;
  /** Of its large answers. */
  readonly memory: AnswerMemory;
}

/** Calls one candidate. What it gives has no member `kind`, which tells it from a failure. */
export type CallCandidate<Op extends Operation, Given extends object> = (
  call: CandidateCall<Op>,
) => Promise<Given | UpstreamFailure>;

/** What a candidate gave, and which one. */
export interface Served<Given> {
  readonly given: Given;
  readonly candidate: Candidate;
  /** When the attempt began, monotonic ms. */
  readonly startedMs: number;
  /** Of its large answers, to be closed when the caller has them. */
  readonly memory: AnswerMemory;
}

interface CallInput<Op extends Operation, Given extends object> {
  readonly plan: RoutePlan;
  readonly request: Op;
  readonly facts: RequestFacts<Op>;
  readonly cancellation: Cancellation<RequestEnd>;
  readonly call: CallCandidate<Op, Given>;
}

type Outcome<Given> =
  | { readonly committed: true; readonly given: Given }
  | { readonly committed: false; readonly failure: UpstreamFailure };

/**
 * Tries the candidates in order until one has served all of it: vectors of two deployments may differ in the last digits.
 * @throws GatewayError what the last failure means for the caller, with all failures in its metadata
 */
export async function callCandidates<Op extends Operation, Given extends object>(
  deps: CallDeps,
  input: CallInput<Op, Given>,
): Promise<Served<Given>> {
  const { plan, request, cancellation } = input;
  const walk = new CandidateWalk(deps, plan, request.directives.models, cancellation);
  for (;;) {
    const step = walk.candidates.next();
    if (step.type === 'wait' && (await walk.wait(step.ms))) continue;
    if (step.type !== 'try') return walk.fail(step);
    const served = await tryCandidate(deps, input, walk, step);
    if (served !== undefined) return served;
  }
}

async function tryCandidate<Op extends Operation, Given extends object>(
  deps: CallDeps,
  { request, facts, cancellation, call }: CallInput<Op, Given>,
  walk: CandidateWalk,
  step: Trying,
): Promise<Served<Given> | undefined> {
  const { candidate } = step;
  const startedMs = deps.monotonicMs();
  const attempt = new AttemptLog(facts, candidate, deps.monotonicMs);
  const deadline = new AttemptDeadline(deps, candidate, () => operationClassOf(request), {
    areLeft: () => walk.candidates.hasAlternative(),
    couldServe: () => walk.candidates.hasAlternative(),
  });
  const memory = new AnswerMemory(deps.wholeResponseMemory);
  const serve = async (): Promise<Outcome<Given>> => {
    const upstream = await upstreamOf(deps, candidate, attempt.keyHash);
    if ('kind' in upstream) return { committed: false, failure: upstream };
    const { endUserId } = facts.log;
    const given = await call({ ...upstream, request, endUserId, attempt, deadline, cancellation, memory });
    return isFailure(given) ? { committed: false, failure: given } : { committed: true, given };
  };
  const outcome = await walk.observe(step, deadline, startedMs, serve()).catch((error: unknown) => {
    memory.close();
    throw error;
  });
  if (outcome.committed) {
    attempt.commit();
    return { given: outcome.given, candidate, startedMs, memory };
  }
  memory.close();
  const { failure } = outcome;
  walk.candidates.failed(failure);
  attempt.fail(failure);
  walk.failed(candidate, failure);
  return undefined;
}

function isFailure(given: object): given is UpstreamFailure {
  return 'kind' in given;
}
