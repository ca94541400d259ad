import { z } from 'zod';
import { defineRoute, NOTHING } from '../route.ts';
import {
  drawWorkspace,
  nameSchema,
  readSettings,
  settingsShape,
  slugSchema,
  subjectOf,
  workspacePathSchema,
  workspaceSchema,
} from './workspace-shape.ts';

const bodySchema = z
  .strictObject({ name: nameSchema.optional(), slug: slugSchema.optional(), ...settingsShape })
  .meta({ id: 'UpdateWorkspaceRequest' });

export const updateWorkspace = defineRoute({
  method: 'PATCH',
  path: '/workspaces/{id}',
  scope: 'management',
  operationId: 'updateWorkspace',
  tag: 'Workspaces',
  summary: 'Change a workspace; members that are left out stay as they are',
  audited: 'values',
  params: workspacePathSchema,
  query: NOTHING,
  body: bodySchema,
  responses: { 200: { description: 'After the change.', schema: z.strictObject({ data: workspaceSchema }) } },
  errors: [400, 404, 413],
  async handle({ params, body, services }) {
    const { name, slug, ...settings } = body;
    const workspace = await services.workspaces.update(params.id, {
      ...(name !== undefined && { name }),
      ...(slug !== undefined && { slug }),
      ...readSettings(settings, services),
    });
    return { status: 200, body: { data: drawWorkspace(workspace) }, subject: subjectOf(workspace) };
  },
});
