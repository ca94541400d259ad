import { z } from 'zod';
import { workspaceResource } from '../../../resources/workspaces.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { serializeWorkspace, subjectOf, workspaceSchema } from './workspace-shape.ts';

const bodySchema = z.strictObject(workspaceResource.createShape).meta({ id: 'CreateWorkspaceRequest' });

export const createWorkspace = defineRoute({
  method: 'POST',
  path: '/workspaces',
  scope: 'management',
  operationId: 'createWorkspace',
  tag: 'Workspaces',
  summary: 'Create a workspace',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: { 201: { description: 'The workspace.', schema: z.strictObject({ data: workspaceSchema }) } },
  errors: [400, 413],
  async handle({ principal, body, services }) {
    const workspace = await services.workspaces.create({
      ...workspaceResource.parseNew(body, services),
      createdBy: principal?.keyHash ?? null,
    });
    return { status: 201, body: { data: serializeWorkspace(workspace) }, subject: subjectOf(workspace) };
  },
});
