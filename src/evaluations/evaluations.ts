import { compareSides, type ComparedSides, type Side } from './comparisons.ts';
import { createDatasets, type Datasets } from './datasets.ts';
import type { EvaluationDeps } from './deps.ts';
import { addJob, createEvaluationRuns, type EvaluationRuns } from './evaluation-runs.ts';
import { createPublishedScores, type PublishedScores } from './published-scores.ts';

/** Benchmark runs of this gateway: datasets, runs over them, and what is published of them. */
export interface Evaluations {
  readonly datasets: Datasets;
  readonly runs: EvaluationRuns;
  readonly scores: PublishedScores;
  /** @throws GatewayError 400 for runs that do not compare, 404 */
  compare(sides: { readonly a: Side; readonly b: Side }, force: boolean): Promise<ComparedSides>;
  /** Gives a job to runs that wait for none: their process ended before it added one. */
  revive(): Promise<void>;
}

const STRANDED_MS = 15_000;
const STRANDED_AT_ONCE_MAX = 100;

export function createEvaluations(deps: EvaluationDeps & Parameters<typeof createDatasets>[0]): Evaluations {
  const runs = createEvaluationRuns(deps);
  return {
    datasets: createDatasets(deps),
    runs,
    scores: createPublishedScores(deps, runs),
    compare: (sides, force) => compareSides(deps, sides, force),
    async revive() {
      const stranded = await deps.runs.stranded(deps.clock.nowMs() - STRANDED_MS, STRANDED_AT_ONCE_MAX);
      for (const run of stranded) await addJob(deps, run);
    },
  };
}
