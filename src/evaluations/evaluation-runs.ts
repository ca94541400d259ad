import { randomUUID } from 'node:crypto';
import type { Principal } from '../accounts/principal.ts';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import { nanoFromUsd } from '../lib/money.ts';
import type { EvaluationState, RunSettings } from '../resources/evaluations.ts';
import type { DatasetRow, ResultRow, RunRow } from '../store/evaluations/columns.ts';
import type { EvaluationRunStore } from '../store/evaluations/runs.ts';
import type { EvaluationDeps } from './deps.ts';
import { estimateRun, type Estimate } from './estimate.ts';
import { UNITS_MAX, unitsOf } from './plan.ts';
import { conflict, noSuch } from './refusals.ts';
import { EVALUATE, jobIdOf } from './runner.ts';
import { summarize, type ModelSummary } from './statistics/summary.ts';

/** A run as its operator wants it. */
export interface NewRun {
  readonly datasetId: string;
  readonly settings: RunSettings;
  readonly payerKeyHash: string;
  readonly maxCostUsd: number;
  readonly name: string | null;
}

export interface EvaluationRuns extends Pick<EvaluationRunStore, 'list' | 'page'> {
  /** @throws GatewayError 400, 404 */
  estimate(run: NewRun): Promise<Estimate>;
  /** Begins it. @throws GatewayError 400, 404 */
  create(run: NewRun): Promise<{ readonly run: RunRow; readonly estimate: Estimate }>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<RunRow>;
  /** In the order of the run's models. */
  summaries(run: RunRow): Promise<readonly ModelSummary[]>;
  /** @throws GatewayError 404, 409 for a run that is over */
  update(
    id: string,
    changes: { readonly name?: string | undefined; readonly maxCostUsd?: number | undefined },
  ): Promise<RunRow>;
  /** Calls under way end first. @throws GatewayError 404, 409 */
  pause(id: string): Promise<RunRow>;
  /** Goes on, and asks again what failed upstream. @throws GatewayError 404, 409 */
  resume(id: string): Promise<RunRow>;
  /** Breaks off calls under way. @throws GatewayError 404, 409 */
  cancel(id: string): Promise<RunRow>;
  /** With its results, and what was published of it. @throws GatewayError 404, 409 while it works */
  delete(id: string): Promise<void>;
}

const SUMMARIES_CACHED_MAX = 50;

export function createEvaluationRuns(deps: EvaluationDeps): EvaluationRuns {
  const { runs, jobs, clock } = deps;
  const summariesOf = createSummaries(deps);
  const get = async (id: string): Promise<RunRow> => {
    const run = await runs.find(id);
    if (run === undefined) throw noSuch('run');
    return run;
  };
  const changed = async (
    id: string,
    from: readonly EvaluationState[],
    changes: Partial<RunRow>,
    doing: string,
  ): Promise<RunRow> => {
    const run = await runs.change(id, from, { ...changes, updatedAtMs: clock.nowMs() });
    if (run !== undefined) return run;
    const { state } = await get(id);
    throw conflict('wrong_state', `The run is ${state}, and only a run that is ${from.join(' or ')} can be ${doing}.`);
  };
  return {
    list: (window, datasetId) => runs.list(window, datasetId),
    page: (id, filter) => runs.page(id, filter),
    get,
    summaries: summariesOf,
    estimate: async (run) => estimateRun(deps, await checked(deps, run)),
    create: (run) => create(deps, run),
    update: async (id, { name, maxCostUsd }) =>
      changed(
        id,
        ['queued', 'running', 'paused', 'failed', 'done', 'cancelled'],
        {
          ...(name !== undefined && { name }),
          ...(maxCostUsd !== undefined && { maxCostNanoUsd: nanoFromUsd(maxCostUsd) }),
        },
        'changed',
      ),
    pause: (id) => changed(id, ['queued', 'running'], { state: 'paused', reason: 'requested' }, 'paused'),
    async resume(id) {
      const run = await get(id);
      const hasFailures = run.state === 'done' && (await runs.failed(id)).length > 0;
      const from: readonly EvaluationState[] = hasFailures ? ['done'] : ['paused', 'failed'];
      const queued = await runs.requeue(id, from, clock.nowMs());
      if (queued === undefined) throw conflict('wrong_state', `The run is ${run.state}: there is nothing to resume.`);
      await addJob(deps, queued);
      return queued;
    },
    async cancel(id) {
      const nowMs = clock.nowMs();
      const over = { state: 'cancelled', reason: 'requested', finishedAtMs: nowMs } as const;
      const run = await changed(id, ['queued', 'running', 'paused'], over, 'cancelled');
      await jobs.cancel(EVALUATE, jobIdOf(run));
      return run;
    },
    async delete(id) {
      const run = await get(id);
      if (!(await runs.remove(id))) throw conflict('wrong_state', `The run is ${run.state}: cancel it first.`);
      if ((await deps.scores.removeOfRun(id)) > 0) await deps.scoresChanged();
    },
  };
}

/** Another process may have ended between the row and its job: the area looks for such runs. */
export async function addJob({ jobs }: Pick<EvaluationDeps, 'jobs'>, run: RunRow): Promise<void> {
  await jobs.add({ kind: EVALUATE, subjectId: run.id, id: jobIdOf(run) });
}

interface Checked {
  readonly datasetId: string;
  readonly dataset: DatasetRow;
  readonly items: number;
  readonly settings: RunSettings;
  readonly principal: Principal;
}

async function checked(deps: EvaluationDeps, { datasetId, settings, payerKeyHash }: NewRun): Promise<Checked> {
  const dataset = await deps.datasets.find(datasetId);
  if (dataset === undefined) throw noSuch('dataset');
  const units = unitsOf(dataset.items, settings);
  if (units > UNITS_MAX)
    throw invalid('dataset_id', `makes ${units} answers of ${UNITS_MAX} at most: set sample, or name fewer models`);
  checkJudge(deps, dataset, settings);
  const principal = await payerOf(deps, payerKeyHash);
  return { datasetId, dataset, items: dataset.items, settings, principal };
}

function checkJudge({ slugOf }: EvaluationDeps, { judgedItems }: DatasetRow, { judge, models }: RunSettings): void {
  if (judge === null) {
    if (judgedItems > 0)
      throw invalid('judge', `is required: ${judgedItems} items of the dataset have a check by a judge`);
    return;
  }
  const own = slugOf(judge.model) ?? judge.model;
  const all = [
    ...models.map(({ model }) => model),
    ...(judge.reference_model === undefined ? [] : [judge.reference_model]),
  ];
  if (!judge.allow_self_judge && all.some((model) => (slugOf(model) ?? model) === own))
    throw invalid(
      'judge.model',
      'is one of the models, and models favour their own answers: name another judge, or set allow_self_judge',
    );
}

async function payerOf({ admitKey }: EvaluationDeps, keyHash: string): Promise<Principal> {
  try {
    const principal = await admitKey(keyHash);
    if (principal.kind === 'normal') return principal;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status !== 401) throw error;
  }
  throw invalid('payer_key_hash', 'is not the hash of a normal key that may be used');
}

async function create(deps: EvaluationDeps, input: NewRun) {
  const { dataset, ...rest } = await checked(deps, input);
  const estimate = await estimateRun(deps, rest);
  const nowMs = deps.clock.nowMs();
  const run: RunRow = {
    id: randomUUID(),
    name: input.name,
    datasetId: dataset.id,
    datasetName: dataset.name,
    datasetSha256: dataset.sha256,
    settings: input.settings,
    payerKeyHash: input.payerKeyHash,
    maxCostNanoUsd: nanoFromUsd(input.maxCostUsd),
    state: 'queued',
    reason: null,
    error: null,
    turn: 1,
    units: unitsOf(dataset.items, input.settings),
    unitsDone: 0,
    spentNanoUsd: 0,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    finishedAtMs: null,
  };
  if (!(await deps.runs.add(run))) throw noSuch('dataset');
  await addJob(deps, run);
  return { run, estimate };
}

/** Results of one model. */
export function resultsOf(results: readonly ResultRow[], model: number): readonly ResultRow[] {
  return results.filter((row) => row.model === model);
}

/** A summary takes time where there are many results, and a page looks again and again. */
function createSummaries({ runs, turns }: EvaluationDeps): EvaluationRuns['summaries'] {
  const cached = new Map<string, Promise<readonly ModelSummary[]>>();
  const compute = async ({ id, settings }: RunRow): Promise<readonly ModelSummary[]> => {
    const results = await runs.results(id);
    const summaries: ModelSummary[] = [];
    for (const [at] of settings.models.entries())
      summaries.push(await summarize(resultsOf(results, at), settings.seed, turns));
    return summaries;
  };
  return (run) => {
    const key = `${run.id} ${run.updatedAtMs} ${run.unitsDone} ${run.spentNanoUsd}`;
    const before = cached.get(key);
    if (before !== undefined) return before;
    const [oldest] = cached.keys();
    if (cached.size >= SUMMARIES_CACHED_MAX && oldest !== undefined) cached.delete(oldest);
    const made = compute(run);
    cached.set(key, made);
    made.catch(() => cached.delete(key));
    return made;
  };
}
