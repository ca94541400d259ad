import { z } from 'zod';
import { ownerOf } from '../owner.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { serializeFullPreset, fullPresetSchema, presetPathSchema, presetQuerySchema } from './preset-shape.ts';

export const getPreset = defineRoute({
  method: 'GET',
  path: '/presets/{slug}',
  scope: 'any',
  role: 'member',
  operationId: 'getPreset',
  tag: 'Presets',
  summary: 'One preset with the version in use',
  params: presetPathSchema,
  query: presetQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'The preset.', schema: z.strictObject({ data: fullPresetSchema }) } },
  errors: [400, 404],
  async handle({ params, query, ...context }) {
    const found = await context.services.presets.get(await ownerOf(query, context), params.slug);
    return { status: 200, body: { data: serializeFullPreset(found) } };
  },
});
