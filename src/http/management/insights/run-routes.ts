import { z } from 'zod';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { NewRun } from '../../../evaluations/evaluation-runs.ts';
import { maxCostSchema, newRunShape, runNameSchema, runSettingsOf, VERDICTS } from '../../../resources/evaluations.ts';
import type { ResultPlace, RunRecord } from '../../../evaluations/rows.ts';
import { pageShape } from '../page.ts';
import { defineDelete, defineList } from '../resource-routes.ts';
import { defineRoute, NO_BODY, NOTHING, type ManagementServices } from '../route.ts';
import {
  estimateSchema,
  idPath,
  resultSchema,
  runSchema,
  serializeEstimate,
  serializeResult,
  serializeRun,
  serializeSummary,
  summarySchema,
  TAG,
} from './evaluation-shape.ts';

const ITEMS_MAX = 500;
const ITEMS_DEFAULT = 100;

const answer = z.strictObject({ data: runSchema });
const createBody = z.strictObject(newRunShape).meta({ id: 'CreateEvaluationRunRequest' });

export const createRun = defineRoute({
  method: 'POST',
  path: '/benchmarks/runs',
  scope: 'management',
  operationId: 'createEvaluationRun',
  tag: TAG,
  summary: 'Ask models the questions of a dataset; the named key pays, at most the named cost',
  params: NOTHING,
  query: NOTHING,
  body: createBody,
  responses: {
    200: { description: 'With `dry_run`: what it may cost.', schema: z.strictObject({ estimate: estimateSchema }) },
    201: { description: 'The run, which begins now.', schema: answer.extend({ estimate: estimateSchema }) },
  },
  errors: [400, 404],
  async handle({ body, services: { evaluations } }) {
    const input = newRunOf(body);
    if (body.dry_run === true)
      return {
        status: 200,
        body: { estimate: serializeEstimate(await evaluations.runs.estimate(input)) },
        changesNothing: true,
      };
    const { run, estimate } = await evaluations.runs.create(input);
    return {
      status: 201,
      body: { data: serializeRun(run), estimate: serializeEstimate(estimate) },
      subject: `/benchmarks/runs/${run.id}`,
    };
  },
});

function newRunOf(body: z.output<typeof createBody>): NewRun {
  const { dataset_id, payer_key_hash, max_cost_usd, name = null, dry_run: _dry, ...given } = body;
  const settings = runSettingsOf(given);
  return { datasetId: dataset_id, payerKeyHash: payer_key_hash, maxCostUsd: max_cost_usd, name, settings };
}

export const listRuns = defineList({
  path: '/benchmarks/runs',
  operationId: 'listEvaluationRuns',
  tag: TAG,
  summary: 'List runs, the newest first',
  params: NOTHING,
  query: z.strictObject({ ...pageShape, dataset_id: z.string().optional() }),
  description: 'A page of runs.',
  schema: runSchema,
  serialize: serializeRun,
  find: ({ evaluations }, window, { query }) => evaluations.runs.list(window, query.dataset_id),
});

export const getRun = defineRoute({
  method: 'GET',
  path: '/benchmarks/runs/{id}',
  scope: 'management',
  operationId: 'getEvaluationRun',
  tag: TAG,
  summary: 'Get a run, with what it says of each model so far',
  params: idPath,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'The run.',
      schema: answer.extend({ results: z.array(summarySchema).describe('In the order of the models.') }),
    },
  },
  errors: [404],
  async handle({ params, services: { evaluations } }) {
    const run = await evaluations.runs.get(params.id);
    const summaries = await evaluations.runs.summaries(run);
    return {
      status: 200,
      body: { data: serializeRun(run), results: summaries.map((summary, at) => serializeSummary(run, at, summary)) },
    };
  },
});

export const updateRun = defineRoute({
  method: 'PATCH',
  path: '/benchmarks/runs/{id}',
  scope: 'management',
  operationId: 'updateEvaluationRun',
  tag: TAG,
  summary: 'Rename a run, or change what it may cost',
  params: idPath,
  query: NOTHING,
  body: z
    .strictObject({ name: runNameSchema.optional(), max_cost_usd: maxCostSchema.optional() })
    .meta({ id: 'UpdateEvaluationRunRequest' }),
  responses: { 200: { description: 'After the change.', schema: answer } },
  errors: [400, 404],
  async handle({ params, body, services: { evaluations } }) {
    const run = await evaluations.runs.update(params.id, { name: body.name, maxCostUsd: body.max_cost_usd });
    return { status: 200, body: { data: serializeRun(run) } };
  },
});

export const deleteRun = defineDelete({
  path: '/benchmarks/runs/{id}',
  operationId: 'deleteEvaluationRun',
  tag: TAG,
  summary: 'Delete a run with its results, and unpublish it',
  params: idPath,
  description: 'It is gone.',
  errors: [404, 409],
  remove: ({ evaluations }, { id }) => evaluations.runs.delete(id),
});

/** A step that changes the state of a run. */
function defineStep(
  verb: 'pause' | 'resume' | 'cancel',
  summary: string,
  step: (services: ManagementServices, id: string) => Promise<RunRecord>,
) {
  return defineRoute({
    method: 'POST',
    path: `/benchmarks/runs/{id}/${verb}`,
    scope: 'management',
    operationId: `${verb}EvaluationRun`,
    tag: TAG,
    summary,
    params: idPath,
    query: NOTHING,
    body: NO_BODY,
    responses: { 200: { description: 'The run.', schema: answer } },
    errors: [404, 409],
    handle: async ({ params, services }) => ({
      status: 200,
      body: { data: serializeRun(await step(services, params.id)) },
    }),
  });
}

export const pauseRun = defineStep('pause', 'Pause a run once the calls under way have ended', ({ evaluations }, id) =>
  evaluations.runs.pause(id),
);
export const resumeRun = defineStep(
  'resume',
  'Go on with a run that is paused or has failed, and ask again what failed upstream',
  ({ evaluations }, id) => evaluations.runs.resume(id),
);
export const cancelRun = defineStep('cancel', 'End a run, and break its calls off', ({ evaluations }, id) =>
  evaluations.runs.cancel(id),
);

export const listRunItems = defineRoute({
  method: 'GET',
  path: '/benchmarks/runs/{id}/items',
  scope: 'management',
  operationId: 'listEvaluationResults',
  tag: TAG,
  summary: 'List the results of a run, in the order of the dataset',
  params: idPath,
  query: z.strictObject({
    model: z.string().optional().describe('As `models` of the run has it.'),
    verdict: z.enum(VERDICTS).optional(),
    cursor: z.string().optional().describe('`next_cursor` of the page before.'),
    limit: z.coerce.number().int().min(1).max(ITEMS_MAX).optional().describe('Default 100.'),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'A page of results.',
      schema: z.strictObject({ data: z.array(resultSchema), next_cursor: z.string().nullable() }),
    },
  },
  errors: [400, 404],
  async handle({ params, query, services: { evaluations } }) {
    const run = await evaluations.runs.get(params.id);
    const { limit = ITEMS_DEFAULT, verdict, cursor } = query;
    const rows = await evaluations.runs.page(run.id, {
      model: placeOf(run, query.model),
      verdict,
      after: cursor === undefined ? undefined : parseCursor(cursor),
      limit: limit + 1,
    });
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      status: 200,
      body: {
        data: page.map((row) => serializeResult(run, row)),
        next_cursor: last === undefined ? null : `${last.item}-${last.model}-${last.repeatNo}`,
      },
    };
  },
});

/** @throws GatewayError 400 for a model that the run has not */
export function placeOf(run: RunRecord, name: string | undefined, path = 'query.model'): number | undefined {
  if (name === undefined) return undefined;
  const { models } = serializeRun(run);
  const at = models.indexOf(name);
  if (at < 0) throw invalid(path, `is no model of the run, which has ${models.join(', ')}`);
  return at;
}

function parseCursor(cursor: string): ResultPlace {
  const found = /^(\d{1,6})-(\d{1,2})-(\d{1,2})$/.exec(cursor);
  if (found === null) throw invalid('query.cursor', 'is no cursor of this list');
  const [item = 0, model = 0, repeatNo = 0] = found.slice(1).map(Number);
  return { item, model, repeatNo };
}
