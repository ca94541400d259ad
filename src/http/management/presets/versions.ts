import { z } from 'zod';
import { ownerOf, ownerShape } from '../owner.ts';
import { serializePage, pageSchema, pageShape, parseWindow } from '../page.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { serializeVersion, presetPathSchema, versionSchema } from './preset-shape.ts';

export const listPresetVersions = defineRoute({
  method: 'GET',
  path: '/presets/{slug}/versions',
  scope: 'any',
  role: 'member',
  operationId: 'listPresetVersions',
  tag: 'Presets',
  summary: 'The versions of a preset, oldest first',
  params: presetPathSchema,
  query: z.strictObject({ ...pageShape, ...ownerShape }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of versions.', schema: pageSchema(versionSchema) } },
  errors: [400, 404],
  async handle({ params, query, ...context }) {
    const owner = await ownerOf(query, context);
    const page = await context.services.presets.versions(owner, params.slug, parseWindow(query));
    return { status: 200, body: serializePage(page, serializeVersion) };
  },
});
