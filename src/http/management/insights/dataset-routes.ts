import { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { datasetShape } from '../../../resources/evaluations.ts';
import { checkShape } from '../../../wire/gateway/validation/check-shape.ts';
import { readForm } from '../files/read-form.ts';
import { pageQuerySchema } from '../page.ts';
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
