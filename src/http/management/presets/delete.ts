import { z } from 'zod';
import { ownerOf } from '../owner.ts';
import { touchNamed } from '../workspaces/touch-workspace.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { presetPathSchema, presetQuerySchema, subjectOf } from './preset-shape.ts';

export const deletePreset = defineRoute({
  method: 'DELETE',
  path: '/presets/{slug}',
  scope: 'management',
  operationId: 'deletePreset',
  tag: 'Presets',
  summary: 'Archive a preset: requests cannot use it until it is written again',
  params: presetPathSchema,
  query: presetQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'It is archived.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [400, 404],
  users: ({ query, services }) => touchNamed(services, query.workspace_id),
  async handle({ params, query, ...context }) {
    const owner = await ownerOf(query, context);
    await context.services.presets.archive(owner, params.slug);
    return { status: 200, body: { deleted: true }, subject: subjectOf({ ...params, ...owner }) };
  },
});
