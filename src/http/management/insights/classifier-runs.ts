import { z } from 'zod';
import { readBackfill, type Job } from '../../../classifiers/backfill.ts';
import type { Trial } from '../../../classifiers/try-classifier.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { share } from '../../../resources/columns.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { classifierPathSchema, TAG } from './classifier-routes.ts';

const TRIALS_MAX = 20;
const TEXT_CHARS_MAX = 60_000;
const ID_CHARS_MAX = 256;
const USD_MAX = 10_000;
const usd = z.number().describe('USD.');

/** @spec classifier-9 */
const trialSchema = z
  .strictObject({
    generation_id: z.string().nullable().describe('Null: of `text`.'),
    transcript: z.string().nullable().describe('What the model was sent; null: nothing was.'),
    tags: z.record(z.string(), z.string()).nullable().describe('By dimension; null: none were given.'),
    error: z.string().nullable(),
    cost: usd,
  })
  .meta({ id: 'ClassifierTrial' });

function serializeTrial({ generationId, transcript, tags, error, costNanoUsd }: Trial): z.output<typeof trialSchema> {
  return { generation_id: generationId, transcript, tags: tags && { ...tags }, error, cost: usdFromNano(costNanoUsd) };
}

export const testClassifier = defineRoute({
  method: 'POST',
  path: '/classifiers/{id}/test',
  scope: 'management',
  operationId: 'testClassifier',
  tag: TAG,
  summary: 'Sort kept conversations or a text, for the classifier as it is now, and store no tag',
  readsRecords: true,
  readsContentAs: 'testClassifier',
  params: classifierPathSchema,
  query: NOTHING,
  body: z
    .union([
      z.strictObject({
        generation_ids: z
          .array(z.string().min(1).max(ID_CHARS_MAX))
          .min(1)
          .max(TRIALS_MAX)
          .describe('Generations of the workspace whose content is kept.'),
      }),
      z.strictObject({ text: z.string().min(1).max(TEXT_CHARS_MAX).describe('As one turn of a user.') }),
    ])
    .meta({ id: 'TestClassifierRequest' }),
  responses: {
    200: {
      description: 'One entry for each, in the same order.',
      schema: z.strictObject({ data: z.array(trialSchema) }),
    },
  },
  errors: [400, 404],
  async handle({ params, body, services }) {
    const input = 'text' in body ? body : { generationIds: body.generation_ids };
    const trials = await services.classifiers.test(params.id, input);
    return { status: 200, body: { data: trials.map(serializeTrial) } };
  },
});

/** @spec classifier-10 */
const backfillSchema = z
  .strictObject({
    id: z.uuid(),
    state: z.enum(['queued', 'running', 'waiting', 'done', 'failed', 'cancelled']),
    error: z
      .string()
      .nullable()
      .describe('Why it failed: `cost_limit`, `payer_gone`, `classifier_changed`, `too_many_failures`, or a sentence.'),
    version: z.int().describe('Of the classifier.'),
    start: z.iso.datetime(),
    end: z.iso.datetime(),
    sampling_rate: z.number(),
    max_cost_usd: z.number(),
    cost: usd,
    total: z.int().describe('Kept conversations without a tag of this version when it began.'),
    read: z.int(),
    classified: z.int(),
    failed: z.int().describe('The model gave no valid reply.'),
    skipped: z.int().describe('By the filters, the sample, or because their endpoints promise less than was demanded.'),
    created_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ClassifierBackfill' });

function serializeBackfill(job: Job): z.output<typeof backfillSchema> {
  const { version, fromMs, toMs, samplingPpm, maxCostNanoUsd, costNanoUsd, ...counts } = readBackfill(job.checkpoint);
  const { total, read, classified, failed, skipped } = counts;
  const dateOf = (ms: number): string => new Date(ms).toISOString();
  return {
    id: job.id,
    state: job.state,
    error: job.error,
    version,
    start: dateOf(fromMs),
    end: dateOf(toMs),
    sampling_rate: share.serialize(samplingPpm),
    max_cost_usd: usdFromNano(maxCostNanoUsd),
    cost: usdFromNano(costNanoUsd),
    total,
    read,
    classified,
    failed,
    skipped,
    created_at: dateOf(job.createdAtMs),
    finished_at: job.finishedAtMs === null ? null : dateOf(job.finishedAtMs),
  };
}

const time = z.iso.datetime({ offset: true });

export const backfillClassifier = defineRoute({
  method: 'POST',
  path: '/classifiers/{id}/backfill',
  scope: 'management',
  operationId: 'backfillClassifier',
  tag: TAG,
  summary: 'Sort conversations that were kept earlier, as a job with a cap on its cost',
  readsRecords: true,
  audited: 'values',
  params: classifierPathSchema,
  query: NOTHING,
  body: z
    .strictObject({
      start: time,
      end: time.describe('Up to it, and not including.'),
      max_cost_usd: z.number().positive().max(USD_MAX).describe('No call is made that could exceed it.'),
      sampling_rate: z.number().min(0).max(1).optional().describe("Default: the classifier's."),
    })
    .meta({ id: 'BackfillClassifierRequest' }),
  responses: { 202: { description: 'It waits to begin.', schema: z.strictObject({ data: backfillSchema }) } },
  errors: [400, 404, 409, 503],
  async handle({ params, body, services }) {
    const job = await services.classifiers.backfill(params.id, {
      fromMs: Date.parse(body.start),
      toMs: Date.parse(body.end),
      maxCostUsd: body.max_cost_usd,
      samplingPpm:
        body.sampling_rate === undefined ? undefined : share.parse(body.sampling_rate, 'sampling_rate', services),
    });
    return { status: 202, body: { data: serializeBackfill(job) } };
  },
});

export const listBackfills = defineRoute({
  method: 'GET',
  path: '/classifiers/{id}/backfill',
  scope: 'management',
  operationId: 'listBackfills',
  tag: TAG,
  summary: 'List backfills of a classifier of the last week and what is under way, the newest first',
  params: classifierPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'At most 100.', schema: z.strictObject({ data: z.array(backfillSchema) }) } },
  errors: [404],
  async handle({ params, services }) {
    return { status: 200, body: { data: (await services.classifiers.backfills(params.id)).map(serializeBackfill) } };
  },
});

export const cancelBackfill = defineRoute({
  method: 'DELETE',
  path: '/classifiers/{id}/backfill',
  scope: 'management',
  operationId: 'cancelBackfill',
  tag: TAG,
  summary: 'End the backfill of a classifier that is under way; its tags stay',
  params: classifierPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'It ends.', schema: z.strictObject({ cancelled: z.literal(true) }) } },
  errors: [404],
  async handle({ params, services }) {
    await services.classifiers.cancelBackfill(params.id);
    return { status: 200, body: { cancelled: true } };
  },
});
