import { z } from 'zod';
import { ownerOf } from '../owner.ts';
import { defineRoute } from '../route.ts';
import {
  drawFullPreset,
  fullPresetSchema,
  presetPathSchema,
  presetQuerySchema,
  statusSchema,
  subjectOf,
} from './preset-shape.ts';

const NAME_CHARS_MAX = 256;
const DESCRIPTION_CHARS_MAX = 1_000;

/** Ours: the reference's console does it. @source areas.md 7 */
const bodySchema = z
  .strictObject({
    name: z.string().min(1).max(NAME_CHARS_MAX).optional(),
    description: z.string().max(DESCRIPTION_CHARS_MAX).nullable().optional(),
    status: statusSchema.optional().describe('Only active ones can be used.'),
    designated_version: z.int().min(1).optional().describe('The number of the version to use.'),
  })
  .meta({ id: 'UpdatePresetRequest' });

export const updatePreset = defineRoute({
  method: 'PATCH',
  path: '/presets/{slug}',
  scope: 'management',
  operationId: 'updatePreset',
  tag: 'Presets',
  summary: 'Rename a preset, turn it on or off, or choose the version to use',
  audited: 'values',
  params: presetPathSchema,
  query: presetQuerySchema,
  body: bodySchema,
  responses: { 200: { description: 'After the change.', schema: z.strictObject({ data: fullPresetSchema }) } },
  errors: [400, 404, 413],
  async handle({ params, query, body, ...context }) {
    const { designated_version: designatedVersion, ...wish } = body;
    const owner = await ownerOf(query, context);
    const changed = await context.services.presets.change(owner, params.slug, { ...wish, designatedVersion });
    return { status: 200, body: { data: drawFullPreset(changed) }, subject: subjectOf(changed.preset) };
  },
});
