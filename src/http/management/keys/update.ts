import { z } from 'zod';
import { defaultPluginsSchema, readDefaultPlugins } from '../default-plugins.ts';
import { defaultPreferencesSchema, readDefaultPreferences } from '../default-preferences.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { drawKey, keyPathSchema, keySchema, limitResetSchema, limitUsdSchema, readUsd } from './key-shape.ts';

const NAME_CHARS_MAX = 256;

/** `expires_at` and `workspace_id` stay as they were made. @source areas.md 1 */
const bodySchema = z
  .strictObject({
    name: z.string().min(1).max(NAME_CHARS_MAX).optional(),
    disabled: z.boolean().optional(),
    limit: limitUsdSchema.optional(),
    limit_reset: limitResetSchema.optional(),
    include_byok_in_limit: z.boolean().optional(),
    default_provider_preferences: defaultPreferencesSchema.optional(),
    default_plugins: defaultPluginsSchema.optional(),
  })
  .meta({ id: 'UpdateKeyRequest' });

export const updateKey = defineRoute({
  method: 'PATCH',
  path: '/keys/{hash}',
  scope: 'management',
  operationId: 'updateKey',
  tag: 'API keys',
  summary: 'Change a key; members that are left out stay as they are',
  audited: 'values',
  params: keyPathSchema,
  query: NOTHING,
  body: bodySchema,
  responses: { 200: { description: 'The key after the change.', schema: z.strictObject({ data: keySchema }) } },
  errors: [400, 404, 413],
  async handle({ params, body, services }) {
    const changes = {
      ...(body.name !== undefined && { name: body.name }),
      ...(body.disabled !== undefined && { disabled: body.disabled }),
      ...(body.limit !== undefined && { limitNanoUsd: readUsd(body.limit) }),
      ...(body.limit_reset !== undefined && { limitReset: body.limit_reset }),
      ...(body.include_byok_in_limit !== undefined && { includeByokInLimit: body.include_byok_in_limit }),
      ...(body.default_provider_preferences !== undefined && {
        defaultPreferences: readDefaultPreferences(body.default_provider_preferences),
      }),
      ...(body.default_plugins !== undefined && {
        defaultPlugins: readDefaultPlugins(body.default_plugins, services.readPlugins),
      }),
    };
    return { status: 200, body: { data: drawKey(await services.keys.update(params.hash, changes, 'normal')) } };
  },
});
