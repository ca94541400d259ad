import { z } from 'zod';
import type { ClassifierRecord } from '../../../classifiers/classifiers.ts';
import { usdFromNano } from '../../../lib/money.ts';
import { classifierResource } from '../../../resources/classifiers.ts';
import { pageShape } from '../page.ts';
import { defineDelete, defineGet, defineList } from '../resource-routes.ts';
import { defineRoute, NOTHING } from '../route.ts';

export const TAG = 'Classifiers';
export const { schema: classifierSchema } = classifierResource;
export const classifierPathSchema = z.strictObject({ id: z.string().describe('The id of a classifier.') });

function serializeClassifier({ row, today }: ClassifierRecord): z.output<typeof classifierSchema> {
  return classifierResource.serialize(row, {
    today: {
      cost: usdFromNano(today?.costNanoUsd ?? 0),
      classified: today?.classified ?? 0,
      failed: today?.failed ?? 0,
      dropped: today?.dropped ?? 0,
    },
  });
}

const shown = { schema: classifierSchema, serialize: serializeClassifier };
const answer = { schema: z.strictObject({ data: classifierSchema }) };

export const listClassifiers = defineList({
  path: '/classifiers',
  operationId: 'listClassifiers',
  tag: TAG,
  summary: 'List what sorts generations by their conversation, oldest first',
  params: NOTHING,
  query: z.strictObject({ ...pageShape, workspace_id: z.uuid().optional().describe('Default: all workspaces.') }),
  description: 'A page of classifiers.',
  ...shown,
  find: ({ classifiers }, window, { query }) => classifiers.list(window, query.workspace_id),
});

export const getClassifier = defineGet({
  path: '/classifiers/{id}',
  operationId: 'getClassifier',
  tag: TAG,
  summary: 'Get one classifier, with what it did today',
  params: classifierPathSchema,
  description: 'The classifier.',
  ...shown,
  find: ({ classifiers }, { id }) => classifiers.get(id),
});

export const deleteClassifier = defineDelete({
  path: '/classifiers/{id}',
  operationId: 'deleteClassifier',
  tag: TAG,
  summary: 'Delete a classifier with all tags that it gave',
  params: classifierPathSchema,
  description: 'It is gone.',
  remove: ({ classifiers }, { id }) => classifiers.delete(id),
});

export const createClassifier = defineRoute({
  method: 'POST',
  path: '/classifiers',
  scope: 'management',
  operationId: 'createClassifier',
  tag: TAG,
  summary: 'Have a model sort generations of a workspace by their conversation',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: z.strictObject(classifierResource.createShape).meta({ id: 'CreateClassifierRequest' }),
  responses: { 201: { description: 'The classifier.', ...answer } },
  errors: [400, 404, 409],
  async handle({ body, services }) {
    const made = await services.classifiers.create(classifierResource.parseNew(body, services));
    return { status: 201, body: { data: serializeClassifier(made) } };
  },
});

export const updateClassifier = defineRoute({
  method: 'PATCH',
  path: '/classifiers/{id}',
  scope: 'management',
  operationId: 'updateClassifier',
  tag: TAG,
  summary: 'Change a classifier; another prompt, model or set of dimensions makes another version',
  audited: 'values',
  params: classifierPathSchema,
  query: NOTHING,
  body: z.strictObject(classifierResource.updateShape).meta({ id: 'UpdateClassifierRequest' }),
  responses: { 200: { description: 'After the change.', ...answer } },
  errors: [400, 404, 409],
  async handle({ params, body, services }) {
    const changed = await services.classifiers.update(params.id, classifierResource.parsePatch(body, services));
    return { status: 200, body: { data: serializeClassifier(changed) } };
  },
});
