import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { serializeWorkspace, workspacePathSchema, workspaceSchema } from './workspace-shape.ts';

export const getWorkspace = defineRoute({
  method: 'GET',
  path: '/workspaces/{id}',
  scope: 'management',
  operationId: 'getWorkspace',
  tag: 'Workspaces',
  summary: 'One workspace, by id or slug',
  params: workspacePathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The workspace.', schema: z.strictObject({ data: workspaceSchema }) } },
  errors: [404],
  async handle({ params, services }) {
    return { status: 200, body: { data: serializeWorkspace(await services.workspaces.get(params.id)) } };
  },
});
