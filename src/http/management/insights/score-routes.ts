import { z } from 'zod';
import type { ModelComparison } from '../../../evaluations/comparisons.ts';
import { serializeUsd } from '../../../resources/columns.ts';
import type { ScoreRecord } from '../../../evaluations/rows.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { idPath, intervalSchema, TAG } from './evaluation-shape.ts';
import { placeOf } from './run-routes.ts';

const PPM = 1_000_000;
const IMPORTED_MAX = 5_000;
const NAME_CHARS_MAX = 256;
const NOTE_CHARS_MAX = 2_000;
/** Items whose answers differ, of one comparison; the counts are of all. */
const FLIPS_SHOWN_MAX = 100;

const side = z.strictObject({ run: z.string(), model: z.string() });
const flip = z.strictObject({
  item_id: z.string(),
  a_generation_id: z.string(),
  b_generation_id: z.string(),
});

const comparisonSchema = z
  .strictObject({
    a: side,
    b: side,
    verdict: z.enum(['better', 'worse', 'no difference shown']).describe('Of b against a.'),
    items: z.int().describe('Items that both have a score for.'),
    only_a: z.int(),
    only_b: z.int(),
    difference: z.number().nullable().describe('Of b over a.'),
    interval: intervalSchema,
    p: z.number().describe('Two-sided, by flips of signs; corrected by Holm where there are several comparisons.'),
    mcnemar_p: z.number().nullable().describe('The exact test, where every item is right or wrong.'),
    gained: z.int(),
    lost: z.int(),
    gained_items: z.array(flip).describe('Wrong in a and right in b; the first 100.'),
    lost_items: z.array(flip),
    cost_difference_usd: z.number().nullable().describe('Of b over a, of one item.'),
  })
  .meta({ id: 'EvaluationComparison' });

function serializeComparison(one: ModelComparison): z.output<typeof comparisonSchema> {
  const flips = (all: ModelComparison['gained']) =>
    all
      .slice(0, FLIPS_SHOWN_MAX)
      .map(({ itemId, a, b }) => ({ item_id: itemId, a_generation_id: a, b_generation_id: b }));
  return {
    a: { ...one.a },
    b: { ...one.b },
    verdict: one.verdict,
    items: one.items,
    only_a: one.onlyA,
    only_b: one.onlyB,
    difference: one.difference,
    interval: one.interval && { ...one.interval },
    p: one.p,
    mcnemar_p: one.mcnemarP,
    gained: one.gained.length,
    lost: one.lost.length,
    gained_items: flips(one.gained),
    lost_items: flips(one.lost),
    cost_difference_usd: serializeUsd(one.costDifferenceNanoUsd),
  };
}

export const compareRuns = defineRoute({
  method: 'GET',
  path: '/benchmarks/compare',
  scope: 'management',
  operationId: 'compareEvaluationRuns',
  tag: TAG,
  summary: 'Compare two runs, or models of one, over the items that both have',
  params: NOTHING,
  query: z.strictObject({
    a: z.string().describe('The id of a run.'),
    b: z.string().describe('The id of a run; the same one compares its models.'),
    model_a: z.string().optional().describe('As `models` of the run has it. Absent: each.'),
    model_b: z.string().optional(),
    force: z.enum(['true', 'false']).optional().describe('Compares runs of different datasets or judges, too.'),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'One comparison for each pair of models.',
      schema: z.strictObject({
        data: z.array(comparisonSchema),
        differs: z.array(z.enum(['dataset', 'judge'])).describe('In what the runs differ, so that numbers mislead.'),
      }),
    },
  },
  errors: [400, 404],
  async handle({ query, services: { evaluations } }) {
    const [a, b] = await Promise.all([evaluations.runs.get(query.a), evaluations.runs.get(query.b)]);
    const sides = {
      a: { runId: a.id, model: placeOf(a, query.model_a, 'query.model_a') },
      b: { runId: b.id, model: placeOf(b, query.model_b, 'query.model_b') },
    };
    const { comparisons, differs } = await evaluations.compare(sides, query.force === 'true');
    return { status: 200, body: { data: comparisons.map(serializeComparison), differs: [...differs] } };
  },
});

const scoreSchema = z
  .strictObject({
    model: z.string(),
    metric: z.string(),
    score: z.number(),
    low: z.number().nullable(),
    high: z.number().nullable(),
    items: z.int().nullable(),
    measured_on: z.iso.date(),
  })
  .meta({ id: 'PublishedScore' });

function serializeScore(row: ScoreRecord): z.output<typeof scoreSchema> {
  const fraction = (ppm: number | null): number | null => (ppm === null ? null : ppm / PPM);
  return {
    model: row.model,
    metric: row.metric,
    score: row.scorePpm / PPM,
    low: fraction(row.lowPpm),
    high: fraction(row.highPpm),
    items: row.items,
    measured_on: row.measuredOn,
  };
}

export const publishRun = defineRoute({
  method: 'POST',
  path: '/benchmarks/runs/{id}/publish',
  scope: 'management',
  operationId: 'publishEvaluationRun',
  tag: TAG,
  summary: "Add a run's scores to the catalog; routers use them once the configuration names their metric",
  params: idPath,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'What is published.',
      schema: z.strictObject({
        metric: z.string().describe('What `scores.abilities` of the configuration may name.'),
        data: z.array(scoreSchema),
        skipped: z.array(z.strictObject({ model: z.string(), reason: z.string() })),
      }),
    },
  },
  errors: [400, 404, 409],
  async handle({ params, services: { evaluations } }) {
    const { metric, published, skipped } = await evaluations.scores.publish(params.id);
    return { status: 200, body: { metric, data: published.map(serializeScore), skipped: [...skipped] } };
  },
});

export const unpublishRun = defineRoute({
  method: 'DELETE',
  path: '/benchmarks/runs/{id}/publish',
  scope: 'management',
  operationId: 'unpublishEvaluationRun',
  tag: TAG,
  summary: "Take a run's scores out of the catalog",
  params: idPath,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'They are gone.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [404],
  async handle({ params, services: { evaluations } }) {
    await evaluations.scores.unpublish(params.id);
    return { status: 200, body: { deleted: true } };
  },
});

export const importScores = defineRoute({
  method: 'POST',
  path: '/benchmarks/import',
  scope: 'management',
  operationId: 'importBenchmarkScores',
  tag: TAG,
  summary: 'Add scores of a table from elsewhere to the catalog, in place of those of the same models and metrics',
  params: NOTHING,
  query: NOTHING,
  body: z
    .strictObject({
      license: z.string().min(1).max(NOTE_CHARS_MAX).describe('Under which the table may be used.'),
      citation: z.string().max(NOTE_CHARS_MAX).optional(),
      rows: z
        .array(
          z.strictObject({
            model: z.string().min(1).max(NAME_CHARS_MAX),
            metric: z
              .string()
              .min(1)
              .max(NAME_CHARS_MAX)
              .describe('With the release of the test: `some-test-2026/coding`.'),
            score: z.number().min(0).max(1),
            items: z.int().min(1).optional(),
            measured_on: z.iso.date().optional().describe('Default: today.'),
          }),
        )
        .min(1)
        .max(IMPORTED_MAX),
    })
    .meta({ id: 'ImportBenchmarkScoresRequest' }),
  responses: { 200: { description: 'How many.', schema: z.strictObject({ imported: z.int() }) } },
  errors: [400, 409],
  async handle({ body, services: { evaluations } }) {
    const rows = body.rows.map(({ measured_on: measuredOn, ...row }) => ({ ...row, measuredOn }));
    return { status: 200, body: { imported: await evaluations.scores.importTable(rows, body) } };
  },
});
