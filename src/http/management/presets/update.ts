import { z } from 'zod';
import { presetResource } from '../../../resources/presets.ts';
import { ownerOf } from '../owner.ts';
import { touchNamed } from '../workspaces/touch-workspace.ts';
import { defineRoute } from '../route.ts';
import {
  serializeFullPreset,
  fullPresetSchema,
  presetPathSchema,
  presetQuerySchema,
  subjectOf,
} from './preset-shape.ts';

/** @spec preset-5 */
const bodySchema = z
  .strictObject({
    ...presetResource.updateShape,
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
  users: ({ query, services }) => touchNamed(services, query.workspace_id),
  async handle({ params, query, body, ...context }) {
    const owner = await ownerOf(query, context);
    const changed = await context.services.presets.change(owner, params.slug, {
      ...presetResource.parsePatch(body, context.services),
      designatedVersion: body.designated_version,
    });
    return { status: 200, body: { data: serializeFullPreset(changed) }, subject: subjectOf(changed.preset) };
  },
});
