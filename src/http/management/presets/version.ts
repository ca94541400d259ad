import { z } from 'zod';
import { ownerOf } from '../owner.ts';
import { defineRoute, NO_BODY } from '../route.ts';
import { serializeVersion, presetPathSchema, presetQuerySchema, versionSchema } from './preset-shape.ts';

/** No version of a preset has more digits. */
const VERSION_DIGITS_MAX = 9;

export const getPresetVersion = defineRoute({
  method: 'GET',
  path: '/presets/{slug}/versions/{version}',
  scope: 'any',
  role: 'member',
  operationId: 'getPresetVersion',
  tag: 'Presets',
  summary: 'One version of a preset',
  params: presetPathSchema.extend({ version: z.string().min(1).describe('Its number, from 1.') }),
  query: presetQuerySchema,
  body: NO_BODY,
  responses: {
    200: { description: 'The version.', schema: z.strictObject({ data: versionSchema }) },
  },
  errors: [400, 404],
  async handle({ params, query, ...context }) {
    const isNumber = /^[1-9]\d*$/.test(params.version) && params.version.length <= VERSION_DIGITS_MAX;
    // A text that is no number is the number of no version.
    const number = isNumber ? Number(params.version) : 0;
    const version = await context.services.presets.version(await ownerOf(query, context), params.slug, number);
    return { status: 200, body: { data: serializeVersion(version) } };
  },
});
