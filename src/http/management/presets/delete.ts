import { z } from 'zod';
import { defineRoute, NO_BODY } from '../route.ts';
import { ownerOf, presetPathSchema, workspaceQuerySchema } from './preset-shape.ts';

export const deletePreset = defineRoute({
  method: 'DELETE',
  path: '/presets/{slug}',
  scope: 'management',
  operationId: 'deletePreset',
  tag: 'Presets',
  summary: 'Archive a preset: nobody can use it until it is written again',
  params: presetPathSchema,
  query: workspaceQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'It is archived.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [404],
  async handle({ params, query, services, ...context }) {
    await services.presets.archive(ownerOf(query, context), params.slug);
    return { status: 200, body: { deleted: true } };
  },
});
