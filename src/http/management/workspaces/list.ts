import { z } from 'zod';
import { serializePage, pageSchema, pageShape, parseWindow } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { serializeWorkspace, workspaceSchema } from './workspace-shape.ts';

export const listWorkspaces = defineRoute({
  method: 'GET',
  path: '/workspaces',
  scope: 'management',
  operationId: 'listWorkspaces',
  tag: 'Workspaces',
  summary: 'List workspaces, oldest first',
  params: NOTHING,
  query: z.strictObject(pageShape),
  body: NO_BODY,
  responses: { 200: { description: 'A page of workspaces.', schema: pageSchema(workspaceSchema) } },
  errors: [400],
  async handle({ query, services }) {
    return { status: 200, body: serializePage(await services.workspaces.list(parseWindow(query)), serializeWorkspace) };
  },
});
