import type { JobKind, JobOutcome, JobRun } from '../jobs/contract.ts';
import type { RunReason, RunRow } from '../store/evaluations/columns.ts';
import { openLines } from './dataset/dataset-lines.ts';
import type { EvaluationDeps } from './deps.ts';
import { RunUnderWay, type RunStop } from './run-under-way.ts';

export const EVALUATE = 'evaluate';

const RETRY_DELAYS_MS = [1_000, 5_000, 30_000];
const RUNS_AT_ONCE_MAX = 2;
const DONE: JobOutcome = { state: 'done' };
/** A pause that a person or a later hour can end; the others are for good. */
const PAUSES: ReadonlySet<RunReason> = new Set<RunReason>(['cost_cap', 'failures', 'payer_limit']);

/** The id of the job that works on a run: another one each time that it is resumed. */
export function jobIdOf({ id, turn }: Pick<RunRow, 'id' | 'turn'>): string {
  return `${id}:${turn}`;
}

export interface RunnerDeps extends EvaluationDeps {
  /** Settles when all records are stored that were written before: what a run has spent is known by them. */
  readonly waitForRecords: () => Promise<void>;
  /** A run is over, or was paused by what it may cost. */
  readonly onFinished: (run: RunRow) => void;
}

/** Runs of benchmarks as jobs: each answer is stored as it comes, and a job that begins again asks what is missing. */
export function createEvaluationKind(deps: RunnerDeps): JobKind {
  return {
    kind: EVALUATE,
    retryDelaysMs: RETRY_DELAYS_MS,
    runsMax: RUNS_AT_ONCE_MAX,
    run: (job) => work(deps, job),
    async onGivenUp({ id, subjectId }, error) {
      const run = await deps.runs.find(subjectId);
      if (run !== undefined && jobIdOf(run) === id) await finish(deps, run, { reason: 'error', error });
    },
  };
}

async function work(deps: RunnerDeps, { job, signal, save }: JobRun): Promise<JobOutcome> {
  const { runs, datasets, blobs, clock, waitForRecords } = deps;
  const found = await runs.find(job.subjectId);
  if (found === undefined || jobIdOf(found) !== job.id) return DONE;
  const dataset = await datasets.find(found.datasetId);
  if (dataset === undefined) {
    await finish(deps, found, { reason: 'dataset_gone' });
    return DONE;
  }
  await waitForRecords();
  const spentNanoUsd = await runs.spent(found.id);
  const changes = { state: 'running', spentNanoUsd, updatedAtMs: clock.nowMs() } as const;
  const run = await runs.change(found.id, ['queued', 'running'], changes, found);
  if (run === undefined) return DONE;
  const lines = await openLines((range) => blobs.open(dataset.id, range));
  const underWay = new RunUnderWay(deps, { run, lines, spentNanoUsd, signal, save: () => save({ run: run.id }) });
  await finish(deps, run, await underWay.work());
  return DONE;
}

async function finish({ runs, clock, onFinished }: RunnerDeps, run: RunRow, stop: RunStop): Promise<void> {
  if (stop === 'changed') return;
  const nowMs = clock.nowMs();
  const isPause = stop !== undefined && PAUSES.has(stop.reason);
  const finished = await runs.change(
    run.id,
    ['queued', 'running'],
    {
      state: stop === undefined ? 'done' : isPause ? 'paused' : 'failed',
      reason: stop?.reason ?? null,
      error: stop?.error ?? null,
      updatedAtMs: nowMs,
      finishedAtMs: isPause ? null : nowMs,
    },
    run,
  );
  if (finished !== undefined) onFinished(finished);
}
