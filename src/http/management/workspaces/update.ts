import { z } from 'zod';
import { workspaceResource } from '../../../resources/workspaces.ts';
import { touchWorkspace } from './touch-workspace.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { serializeWorkspace, subjectOf, workspacePathSchema, workspaceSchema } from './workspace-shape.ts';

const bodySchema = z.strictObject(workspaceResource.updateShape).meta({ id: 'UpdateWorkspaceRequest' });

export const updateWorkspace = defineRoute({
  method: 'PATCH',
  path: '/workspaces/{id}',
  scope: 'management',
  operationId: 'updateWorkspace',
  tag: 'Workspaces',
  summary: 'Change a workspace; fields that are left out stay as they are',
  audited: 'values',
  params: workspacePathSchema,
  query: NOTHING,
  body: bodySchema,
  responses: { 200: { description: 'After the change.', schema: z.strictObject({ data: workspaceSchema }) } },
  errors: [400, 404, 413],
  users: ({ params, services }) => touchWorkspace(services, params.id),
  async handle({ params, body, services }) {
    const workspace = await services.workspaces.update(params.id, workspaceResource.parsePatch(body, services));
    return { status: 200, body: { data: serializeWorkspace(workspace) }, subject: subjectOf(workspace) };
  },
});
