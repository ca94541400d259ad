import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { EvaluatedModel } from '../resources/evaluations.ts';
import type { RunRow, ScoreRow } from '../store/evaluations/columns.ts';
import { SCORES_MAX } from '../store/evaluations/scores.ts';
import type { EvaluationDeps } from './deps.ts';
import type { EvaluationRuns } from './evaluation-runs.ts';
import { conflict } from './refusals.ts';
import { SMALL_SAMPLE, type ModelSummary } from './statistics/summary.ts';

/** A row of a table that an operator has from elsewhere. */
export interface ImportedScore {
  readonly model: string;
  readonly metric: string;
  /** From 0 to 1. */
  readonly score: number;
  readonly items?: number | undefined;
  readonly measuredOn?: string | undefined;
}

export interface PublishedRun {
  readonly metric: string;
  readonly published: readonly ScoreRow[];
  /** Models whose scores do not stand for the model as it is, or are of too few items. */
  readonly skipped: readonly { readonly model: string; readonly reason: string }[];
}

export interface PublishedScores {
  /** @throws GatewayError 400 for too few items, 404, 409 for a run that is not done */
  publish(runId: string): Promise<PublishedRun>;
  /** @throws GatewayError 404 where nothing of it is published */
  unpublish(runId: string): Promise<void>;
  /** @returns how many. @throws GatewayError 400 */
  importTable(
    rows: readonly ImportedScore[],
    note: { readonly license: string; readonly citation?: string | undefined },
  ): Promise<number>;
}

const PPM = 1_000_000;
const HASH_CHARS = 8;
const DAY_CHARS = 10;

function metricOf({ datasetName, datasetSha256 }: Pick<RunRow, 'datasetName' | 'datasetSha256'>): string {
  return `local/${datasetName}@${datasetSha256.slice(0, HASH_CHARS)}`;
}

export function createPublishedScores(deps: EvaluationDeps, runs: EvaluationRuns): PublishedScores {
  const { scores, clock, scoresChanged } = deps;
  return {
    async publish(runId) {
      const run = await runs.get(runId);
      if (run.state !== 'done')
        throw conflict('wrong_state', `The run is ${run.state}: only one that is done can be published.`);
      const { published, skipped } = scoresOf(run, await runs.summaries(run), deps);
      const [first] = skipped;
      if (published.length === 0)
        throw new GatewayError(
          'invalid_request',
          `Nothing of the run can be published: ${first?.model ?? 'it'} ${first?.reason ?? 'has no model'}.`,
        );
      await room(deps, published.length);
      await scores.put(published);
      await scoresChanged();
      return { metric: metricOf(run), published, skipped };
    },
    async unpublish(runId) {
      if ((await scores.removeOfRun(runId)) === 0)
        throw new GatewayError('not_found', 'Nothing of this run is published.');
      await scoresChanged();
    },
    async importTable(rows, { license, citation }) {
      const wrong = rows.findIndex(({ metric }) => metric.startsWith('local/'));
      if (wrong >= 0)
        throw invalid(`rows[${wrong}].metric`, 'must not begin with local/, which is for runs of this gateway');
      const made = rows.map((row): ScoreRow => ({
        id: randomUUID(),
        source: 'imported',
        runId: null,
        model: deps.slugOf(row.model) ?? row.model,
        metric: row.metric,
        scorePpm: Math.round(row.score * PPM),
        lowPpm: null,
        highPpm: null,
        items: row.items ?? null,
        costNanoUsd: null,
        license,
        citation: citation ?? null,
        measuredOn: row.measuredOn ?? dayOf(clock.nowMs()),
        createdAtMs: clock.nowMs(),
      }));
      await room(deps, made.length);
      await scores.put(made);
      await scoresChanged();
      return made.length;
    },
  };
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, DAY_CHARS);
}

/** What can be published of a run, and why the rest cannot. */
function scoresOf(
  run: RunRow,
  summaries: readonly ModelSummary[],
  { slugOf, clock }: Pick<EvaluationDeps, 'slugOf' | 'clock'>,
): Omit<PublishedRun, 'metric'> {
  const skipped: { model: string; reason: string }[] = [];
  const published: ScoreRow[] = [];
  for (const [at, evaluated] of run.settings.models.entries()) {
    const found = publishable(evaluated, summaries[at], slugOf(evaluated.model));
    if ('reason' in found) skipped.push({ model: evaluated.model, reason: found.reason });
    else if (published.some(({ model }) => model === found.slug))
      skipped.push({ model: evaluated.model, reason: 'is there under another name' });
    else published.push(rowOf(run, found, clock.nowMs()));
  }
  return { published, skipped };
}

interface Publishable {
  readonly slug: string;
  readonly mean: number;
  readonly summary: ModelSummary;
}

function publishable(
  { preset, provider, reasoning }: EvaluatedModel,
  summary: ModelSummary | undefined,
  slug: string | undefined,
): Publishable | { readonly reason: string } {
  if ([preset, provider, reasoning].some((one) => one !== undefined)) return { reason: 'has settings of its own' };
  if (slug === undefined) return { reason: 'is not in the catalog any more' };
  if (summary === undefined || summary.mean === null || summary.items < SMALL_SAMPLE)
    return { reason: `has fewer than ${SMALL_SAMPLE} items with a score` };
  return { slug, mean: summary.mean, summary };
}

function rowOf(run: RunRow, { slug, mean, summary }: Publishable, nowMs: number): ScoreRow {
  const { interval } = summary;
  return {
    id: randomUUID(),
    source: 'local',
    runId: run.id,
    model: slug,
    metric: metricOf(run),
    scorePpm: Math.round(mean * PPM),
    lowPpm: interval && Math.round(interval.low * PPM),
    highPpm: interval && Math.round(interval.high * PPM),
    items: summary.items,
    costNanoUsd: summary.costPerItemNanoUsd,
    license: null,
    citation: null,
    measuredOn: dayOf(nowMs),
    createdAtMs: nowMs,
  };
}

/** @throws GatewayError 409 where the catalog would hold more scores than it may */
async function room({ scores }: EvaluationDeps, more: number): Promise<void> {
  const { length } = await scores.all();
  if (length + more > SCORES_MAX)
    throw conflict('too_many_scores', `The catalog holds at most ${SCORES_MAX} scores beside its own: unpublish some.`);
}
