import { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { datasetShape } from '../../../resources/evaluations.ts';
import { checkShape } from '../../../wire/gateway/validation/check-shape.ts';
import { readForm } from '../files/read-form.ts';
import { pageQuerySchema } from '../page.ts';
import { ownerOf, ownerShape } from '../owner.ts';
import { defineDelete, defineGet, defineList } from '../resource-routes.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { datasetSchema, idPath, serializeDataset, TAG } from './evaluation-shape.ts';

/** A dataset of 100 MB and the form around it. */
const FORM_BYTES_MAX = 106_000_000;

const shown = { schema: datasetSchema, serialize: serializeDataset };
const fields = z.strictObject(datasetShape);

export const listDatasets = defineList({
  path: '/benchmarks/datasets',
  operationId: 'listEvaluationDatasets',
  tag: TAG,
  summary: 'List datasets, the newest first',
  params: NOTHING,
  query: pageQuerySchema,
  description: 'A page of datasets.',
  ...shown,
  find: ({ evaluations }, window) => evaluations.datasets.list(window),
});

export const getDataset = defineGet({
  path: '/benchmarks/datasets/{id}',
  operationId: 'getEvaluationDataset',
  tag: TAG,
  summary: 'Get one dataset, without its lines',
  params: idPath,
  description: 'The dataset.',
  ...shown,
  find: ({ evaluations }, { id }) => evaluations.datasets.get(id),
});

export const deleteDataset = defineDelete({
  path: '/benchmarks/datasets/{id}',
  operationId: 'deleteEvaluationDataset',
  tag: TAG,
  summary: 'Delete a dataset; results of its runs stay',
  params: idPath,
  description: 'It is gone.',
  errors: [404, 409],
  remove: ({ evaluations }, { id }) => evaluations.datasets.delete(id),
});

export const uploadDataset = defineRoute({
  method: 'POST',
  path: '/benchmarks/datasets',
  scope: 'management',
  operationId: 'uploadEvaluationDataset',
  tag: TAG,
  summary: 'Store a dataset: one JSON object a line',
  params: NOTHING,
  query: NOTHING,
  body: z.instanceof(IncomingMessage, { error: 'must be a form with a file' }),
  upload: {
    bytesMax: FORM_BYTES_MAX,
    form: z.object({ file: z.string().meta({ format: 'binary' }), ...fields.shape }),
  },
  responses: {
    201: { description: 'The dataset, once it is on the disk.', schema: z.strictObject({ data: datasetSchema }) },
  },
  errors: [400, 408, 409, 413, 503],
  async handle({ body, services }) {
    const form = readForm(body);
    try {
      const { chunks } = await form.file();
      const row = await services.evaluations.datasets.upload(chunks, () =>
        checkShape(fields, form.fields(), { root: 'form' }),
      );
      return { status: 201, body: { data: serializeDataset(row) }, subject: `/benchmarks/datasets/${row.id}` };
    } catch (error) {
      // The caller disconnected. That is no bug to report, and no response reaches the caller.
      if (body.destroyed && !body.complete)
        throw new GatewayError('invalid_request', 'The request body broke off.', { cause: error });
      throw error;
    } finally {
      form.close();
    }
  },
});

const MODELS_MAX = 20;
const MODEL_CHARS_MAX = 256;
const REQUESTS_MAX = 5_000;
const REQUESTS_DEFAULT = 500;

export const makeDatasetFromRequests = defineRoute({
  method: 'POST',
  path: '/benchmarks/datasets/from-requests',
  scope: 'management',
  operationId: 'createEvaluationDatasetFromRequests',
  tag: TAG,
  summary: 'Store kept requests of a workspace as a dataset, which runs send again',
  params: NOTHING,
  query: NOTHING,
  body: z
    .strictObject({
      ...datasetShape,
      ...ownerShape,
      start: z.iso.datetime().describe('Requests from this time on.'),
      end: z.iso.datetime().describe('Requests before this time.'),
      models: z
        .array(z.string().min(1).max(MODEL_CHARS_MAX))
        .max(MODELS_MAX)
        .optional()
        .describe('Slugs, as requested or as served. Default: any.'),
      limit: z
        .int()
        .min(1)
        .max(REQUESTS_MAX)
        .optional()
        .describe(`The oldest come first. Default: ${REQUESTS_DEFAULT}.`),
      expected: z
        .enum(['none', 'response'])
        .optional()
        .describe('`response`: judges are given the kept response as a right answer. Default: `none`.'),
    })
    .meta({ id: 'CreateEvaluationDatasetFromRequestsRequest' }),
  responses: {
    201: {
      description: 'The dataset.',
      schema: z.strictObject({
        data: datasetSchema,
        skipped: z.int().describe('Requests that cannot be sent again, or may not be.'),
      }),
    },
  },
  errors: [400, 404, 409, 503],
  async handle({ body, ...context }) {
    const { name, license, citation, start, end, models = [], limit = REQUESTS_DEFAULT, expected } = body;
    const { workspaceId } = await ownerOf(body, context);
    const { row, skipped } = await context.services.evaluations.datasets.fromRequests(
      {
        workspaceId,
        fromMs: Date.parse(start),
        toMs: Date.parse(end),
        models,
        limit,
        expectsResponse: expected === 'response',
      },
      { name, license, citation },
    );
    return { status: 201, body: { data: serializeDataset(row), skipped }, subject: `/benchmarks/datasets/${row.id}` };
  },
});
