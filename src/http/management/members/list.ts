import { z } from 'zod';
import { serializePage, pageSchema, pageShape, parseWindow } from '../page.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { workspacePathSchema } from '../workspaces/workspace-shape.ts';
import { serializeMember, memberSchema } from './member-shape.ts';

export const listMembers = defineRoute({
  method: 'GET',
  path: '/workspaces/{id}/members',
  scope: 'management',
  operationId: 'listWorkspaceMembers',
  tag: 'Workspaces',
  summary: 'List the users that were added to a workspace, oldest first',
  params: workspacePathSchema,
  query: z.strictObject(pageShape),
  body: NO_BODY,
  responses: { 200: { description: 'A page of members.', schema: pageSchema(memberSchema) } },
  errors: [400, 404],
  async handle({ params, query, services }) {
    return {
      status: 200,
      body: serializePage(await services.members.list(params.id, parseWindow(query)), serializeMember),
    };
  },
});
