import { z } from 'zod';
import { defineRoute, NOTHING } from '../route.ts';
import {
  drawWorkspace,
  nameSchema,
  readSettings,
  settingsShape,
  slugSchema,
  subjectOf,
  workspaceSchema,
} from './workspace-shape.ts';

const bodySchema = z
  .strictObject({ name: nameSchema, slug: slugSchema, ...settingsShape })
  .meta({ id: 'CreateWorkspaceRequest' });

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
    const { name, slug, ...settings } = body;
    const wish = { name, slug, ...readSettings(settings, services) };
    const workspace = await services.workspaces.create(wish, principal?.keyHash ?? null);
    return { status: 201, body: { data: drawWorkspace(workspace) }, subject: subjectOf(workspace) };
  },
});
