import { z } from 'zod';
import { ownerOf, ownerShape } from '../owner.ts';
import { serializePage, pageSchema, pageShape, parseWindow } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { serializePreset, presetSchema } from './preset-shape.ts';

export const listPresets = defineRoute({
  method: 'GET',
  path: '/presets',
  scope: 'any',
  role: 'member',
  operationId: 'listPresets',
  tag: 'Presets',
  summary: "The presets of the key's workspace, newest change first",
  params: NOTHING,
  query: z.strictObject({ ...pageShape, ...ownerShape }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of presets.', schema: pageSchema(presetSchema) } },
  errors: [400, 404],
  async handle({ query, ...context }) {
    const page = await context.services.presets.list(await ownerOf(query, context), parseWindow(query));
    return { status: 200, body: serializePage(page, serializePreset) };
  },
});
