import { z } from 'zod';
import { defineRoute, NO_BODY } from '../route.ts';
import { drawFullPreset, fullPresetSchema, ownerOf, presetPathSchema, workspaceQuerySchema } from './preset-shape.ts';

export const getPreset = defineRoute({
  method: 'GET',
  path: '/presets/{slug}',
  scope: 'any',
  operationId: 'getPreset',
  tag: 'Presets',
  summary: 'One preset with the version in use',
  params: presetPathSchema,
  query: workspaceQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'The preset.', schema: z.strictObject({ data: fullPresetSchema }) } },
  errors: [404],
  async handle({ params, query, services, ...context }) {
    return {
      status: 200,
      body: { data: drawFullPreset(await services.presets.get(ownerOf(query, context), params.slug)) },
    };
  },
});
