import { z } from 'zod';
import { nameOf } from '../../../evaluations/model-name.ts';
import type { ModelSummary } from '../../../evaluations/statistics/summary.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { serializeTime, serializeUsd } from '../../../resources/columns.ts';
import { RUN_STATES, runSettingsSchema, VERDICTS } from '../../../resources/evaluations.ts';
import type { DatasetRecord, ResultRecord, RunRecord } from '../../../evaluations/rows.ts';

export const TAG = 'Benchmarks';
const PPM = 1_000_000;
const usd = z.number().nullable();

export const idPath = z.strictObject({ id: z.string() });

export const datasetSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    sha256: z.string().describe('Of the file: results of two versions do not compare.'),
    items: z.int(),
    judged_items: z.int().describe('Items that need a judge.'),
    size_bytes: z.int(),
    license: z.string().nullable(),
    citation: z.string().nullable(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'EvaluationDataset' });

export function serializeDataset(row: DatasetRecord): z.output<typeof datasetSchema> {
  const { id, name, sha256, items, license, citation } = row;
  return {
    id,
    name,
    sha256,
    items,
    judged_items: row.judgedItems,
    size_bytes: row.sizeBytes,
    license,
    citation,
    created_at: serializeTime(row.createdAtMs),
  };
}

export const estimateSchema = z
  .strictObject({
    calls: z.int().describe('Of the models and of the judge.'),
    cost_usd_low: z.number().describe('Of the prompts alone.'),
    cost_usd_high: z.number().describe('With answers as long as they may be.'),
  })
  .meta({ id: 'EvaluationEstimate' });

export function serializeEstimate(estimate: {
  readonly calls: number;
  readonly lowNanoUsd: number;
  readonly highNanoUsd: number;
}): z.output<typeof estimateSchema> {
  return {
    calls: estimate.calls,
    cost_usd_low: usdFromNano(estimate.lowNanoUsd),
    cost_usd_high: usdFromNano(estimate.highNanoUsd),
  };
}

export const intervalSchema = z
  .strictObject({ low: z.number(), high: z.number() })
  .nullable()
  .describe('Of 95 %. Null: there is too little to say one.');

const { models: _models, ...settingsShape } = runSettingsSchema.shape;

export const runSchema = z
  .strictObject({
    id: z.string(),
    name: z.string().nullable(),
    dataset_id: z.string(),
    dataset: z.string(),
    dataset_sha256: z.string(),
    models: z.array(z.string()),
    settings: z.strictObject(settingsShape),
    payer_key_hash: z.string(),
    max_cost_usd: z.number(),
    spent_usd: z.number(),
    state: z.enum(RUN_STATES),
    reason: z
      .string()
      .nullable()
      .describe(
        '`cost_cap`, `failures`, `payer_limit`, `requested`; of a run that failed `payer_gone`, `dataset_gone`, `error`.',
      ),
    error: z.string().nullable(),
    units: z.int().describe('Answers that it is to get.'),
    units_done: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'EvaluationRun' });

export function serializeRun(run: RunRecord): z.output<typeof runSchema> {
  const { models, ...settings } = run.settings;
  return {
    id: run.id,
    name: run.name,
    dataset_id: run.datasetId,
    dataset: run.datasetName,
    dataset_sha256: run.datasetSha256,
    models: models.map((_, at) => nameOf(run, at)),
    settings,
    payer_key_hash: run.payerKeyHash,
    max_cost_usd: usdFromNano(run.maxCostNanoUsd),
    spent_usd: usdFromNano(run.spentNanoUsd),
    state: run.state,
    reason: run.reason,
    error: run.error,
    units: run.units,
    units_done: run.unitsDone,
    created_at: serializeTime(run.createdAtMs),
    updated_at: serializeTime(run.updatedAtMs),
    finished_at: run.finishedAtMs === null ? null : serializeTime(run.finishedAtMs),
  };
}

export const summarySchema = z
  .strictObject({
    model: z.string(),
    items: z.int().describe('Items with a score.'),
    mean: z.number().nullable().describe('From 0 to 1, weighted; of the items with a score.'),
    interval: intervalSchema,
    method: z.enum(['wilson', 'bootstrap']),
    small_sample: z.boolean().describe('Below 30 items: read the interval, not the mean.'),
    cost_usd: z.number(),
    judge_cost_usd: z.number(),
    cost_per_item_usd: usd,
    latency_ms: z.strictObject({ p50: z.int(), p95: z.int() }).nullable(),
    output_tokens: z.int(),
    verdicts: z.record(z.enum(VERDICTS), z.int()),
    judged_itself: z.boolean().describe('The judge is this model.'),
  })
  .meta({ id: 'EvaluationSummary' });

export function serializeSummary(run: RunRecord, at: number, summary: ModelSummary): z.output<typeof summarySchema> {
  return {
    model: nameOf(run, at),
    items: summary.items,
    mean: summary.mean,
    interval: summary.interval && { ...summary.interval },
    method: summary.method,
    small_sample: summary.smallSample,
    cost_usd: usdFromNano(summary.costNanoUsd),
    judge_cost_usd: usdFromNano(summary.judgeCostNanoUsd),
    cost_per_item_usd: serializeUsd(summary.costPerItemNanoUsd),
    latency_ms: summary.latencyMs && { ...summary.latencyMs },
    output_tokens: summary.outputTokens,
    verdicts: { ...summary.verdicts },
    judged_itself: run.settings.judge?.model === run.settings.models[at]?.model,
  };
}

export const resultSchema = z
  .strictObject({
    item_id: z.string(),
    model: z.string(),
    repeat: z.int(),
    verdict: z.enum(VERDICTS),
    score: z.number().nullable(),
    weight: z.number(),
    group: z.string().nullable(),
    attempts: z.int(),
    generation_id: z.string().describe('Empty: its request could not be made.'),
    judge_generation_id: z.string().nullable(),
    answer_sha256: z.string().nullable().describe('The text is in the content log, where that keeps it.'),
    error: z.string().nullable(),
    cost_usd: z.number(),
    judge_cost_usd: z.number(),
    latency_ms: z.int(),
    output_tokens: z.int(),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'EvaluationResult' });

export function serializeResult(run: RunRecord, row: ResultRecord): z.output<typeof resultSchema> {
  return {
    item_id: row.itemId,
    model: nameOf(run, row.model),
    repeat: row.repeatNo,
    verdict: row.verdict,
    score: row.scorePpm === null ? null : row.scorePpm / PPM,
    weight: row.weightPpm / PPM,
    group: row.groupName,
    attempts: row.attempts,
    generation_id: row.generationId,
    judge_generation_id: row.judgeGenerationId,
    answer_sha256: row.answerHash,
    error: row.error,
    cost_usd: usdFromNano(row.costNanoUsd),
    judge_cost_usd: usdFromNano(row.judgeCostNanoUsd),
    latency_ms: row.latencyMs,
    output_tokens: row.outputTokens,
    created_at: serializeTime(row.createdAtMs),
  };
}
