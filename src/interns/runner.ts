import { randomUUID } from 'node:crypto';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { JobKind, JobOutcome, JobRun } from '../jobs/contract.ts';
import type { InternSettings } from '../resources/interns.ts';
import type { InternRow, InternRunRow, InternVersionRow } from '../store/interns/columns.ts';
import { isOver } from '../store/interns/runs.ts';
import type { RunnerDeps } from './runner-deps.ts';
import { requestOfAgent } from './agent-request.ts';
import { memoryFunction } from './memory.ts';
import { PAYER_GONE, payerOf } from './payer.ts';
import { isActive, RunEnded, RunUnderWay } from './run-steps.ts';

export const INTERN_RUN = 'intern_run';

/** Of an upstream that fails for a while. */
const RETRY_DELAYS_MS = [1_000, 5_000, 30_000];
const RUNS_AT_ONCE_MAX = 4;

/** The id of the job that works on a run: another one each time that it goes on after a wait. */
export function jobIdOf({ id, turn }: Pick<InternRunRow, 'id' | 'turn'>): string {
  return `${id}:${turn}`;
}

export function createRunKind(deps: RunnerDeps): JobKind {
  return {
    kind: INTERN_RUN,
    retryDelaysMs: RETRY_DELAYS_MS,
    runsMax: RUNS_AT_ONCE_MAX,
    run: (job) => work(deps, job),
    async onGivenUp({ id, subjectId }, error) {
      const run = await deps.runs.find(subjectId);
      // It may have waited since then, and be another job's.
      if (run === undefined || jobIdOf(run) !== id) return;
      const nowMs = deps.clock.nowMs();
      const over = { state: 'failed', error, updatedAtMs: nowMs, finishedAtMs: nowMs } as const;
      const failed = await deps.runs.change(run.id, ['queued', 'running'], over, run.turn);
      deps.changed(run.id);
      if (failed !== undefined) deps.notices.failed(failed);
    },
  };
}

type RunEnd = Pick<InternRunRow, 'state'> & Partial<Pick<InternRunRow, 'error' | 'ending'>>;

async function end({ runs, clock, notices }: RunnerDeps, run: InternRunRow, over: RunEnd): Promise<void> {
  const nowMs = clock.nowMs();
  if (!(await runs.leave(run, { ...over, updatedAtMs: nowMs, finishedAtMs: nowMs }))) throw new RunEnded();
  if (over.state === 'failed') notices.failed({ ...run, ...over });
}

const DONE: JobOutcome = { state: 'done' };

async function work(deps: RunnerDeps, { job, signal, save }: JobRun): Promise<JobOutcome> {
  const { interns, runs, clock } = deps;
  const found = await runs.find(job.subjectId);
  if (found === undefined || isOver(found.state) || jobIdOf(found) !== job.id) return DONE;
  const intern = await interns.find(found.internId);
  const version = await interns.findVersion(found.internId, found.version);
  if (intern === undefined || version === undefined) return DONE;
  const run = await runs.claim(found.id, found.turn, randomUUID(), clock.nowMs());
  if (run === undefined) return DONE;
  try {
    const ended = await workOn(deps, { intern, version, run, signal, save: () => save({ run: run.id }) });
    // It goes on when its agent is provisioned.
    if (ended === 'paused') await runs.leave(run, { state: 'paused', updatedAtMs: clock.nowMs() });
    else if (ended !== 'waiting') await end(deps, run, ended);
    return DONE;
  } catch (error) {
    if (!(error instanceof RunEnded)) throw error;
    const now = await runs.find(run.id);
    // A process that was late has taken it from this one, which has its job: it takes it back.
    if (now?.state === 'running' && now.turn === run.turn) throw error;
    return DONE;
  } finally {
    deps.changed(run.id);
  }
}

interface WorkInput {
  readonly intern: InternRow;
  readonly version: InternVersionRow;
  readonly run: InternRunRow;
  readonly signal: AbortSignal;
  readonly save: () => Promise<void>;
}

async function workOn(deps: RunnerDeps, { signal, ...input }: WorkInput): Promise<RunEnd | 'waiting' | 'paused'> {
  const { intern, version, run } = input;
  if (!isActive(intern)) return 'paused';
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), run.leftMs);
  const both = AbortSignal.any([signal, time.signal]);
  try {
    const principal = await payerOf(deps, intern);
    if (principal === undefined) return PAYER_GONE;
    const { instructions, ...request } = await requestOfAgent(deps, intern, version);
    const functions = functionsOf(deps, run, version.settings);
    const agent = await deps.openAgent({ runId: run.id, principal, ...request, functions, signal: both });
    const steps = new RunUnderWay(deps, { ...input, instructions, agent, signal: both });
    return await steps.work();
  } catch (error) {
    // Of the engine, which knows why: cancelled, lost, or the gateway stops.
    if (signal.aborted || error instanceof RunEnded) throw error;
    if (time.signal.aborted) return { state: 'done', ending: 'time' };
    if (!(error instanceof GatewayError) || isPassing(error)) throw error;
    if (error.lacksFunds) return { state: 'done', ending: 'budget', error: error.message };
    return { state: 'failed', error: error.message };
  } finally {
    clearTimeout(timer);
  }
}

function functionsOf(deps: RunnerDeps, { id: runId, internId }: InternRunRow, settings: InternSettings) {
  const memory = memoryFunction(deps, { internId, runId, settings });
  return memory === undefined ? [] : [memory];
}

/** Whether the same request may succeed in a while. */
function isPassing({ status }: GatewayError): boolean {
  return status === 408 || status === 429 || status >= 500;
}
