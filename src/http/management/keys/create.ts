import { z } from 'zod';
import { invalid } from '../../../canonical/gateway-error.ts';
import { defaultPluginsSchema, readDefaultPlugins } from '../default-plugins.ts';
import { defaultPreferencesSchema, readDefaultPreferences } from '../default-preferences.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { drawKey, keySchema, limitResetSchema, limitUsdSchema, readUsd } from './key-shape.ts';

const NAME_CHARS_MAX = 256;
const USER_ID_CHARS_MAX = 256;

/** @source areas.md 1 "Create fields" */
const bodySchema = z
  .strictObject({
    name: z.string().min(1).max(NAME_CHARS_MAX),
    limit: limitUsdSchema.optional(),
    limit_reset: limitResetSchema.optional(),
    include_byok_in_limit: z.boolean().optional(),
    expires_at: z.iso.datetime({ offset: true }).nullable().optional().describe('In UTC. Null: never.'),
    creator_user_id: z.string().min(1).max(USER_ID_CHARS_MAX).nullable().optional(),
    workspace_id: z.uuid().optional().describe('Default: the default workspace.'),
    default_provider_preferences: defaultPreferencesSchema.optional(),
    default_plugins: defaultPluginsSchema.optional(),
  })
  .meta({ id: 'CreateKeyRequest' });

export const createKey = defineRoute({
  method: 'POST',
  path: '/keys',
  scope: 'management',
  operationId: 'createKey',
  tag: 'API keys',
  summary: 'Create a key for generations; the answer is the only one that shows it in full',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: {
    201: {
      description: 'The key, shown this once.',
      schema: z.strictObject({ data: keySchema, key: z.string() }),
    },
  },
  errors: [400, 413],
  async handle({ body, services }) {
    const { record, key } = await services.keys.create({
      name: body.name,
      limitNanoUsd: readUsd(body.limit ?? null),
      limitReset: body.limit_reset ?? null,
      includeByokInLimit: body.include_byok_in_limit ?? false,
      expiresAtMs: readExpiry(body.expires_at ?? null),
      creatorUserId: body.creator_user_id ?? null,
      defaultPreferences: readDefaultPreferences(body.default_provider_preferences ?? null),
      defaultPlugins: readDefaultPlugins(body.default_plugins ?? null, services.readPlugins),
      ...(body.workspace_id !== undefined && { workspaceId: body.workspace_id }),
    });
    return { status: 201, body: { data: drawKey(record), key } };
  },
});

/** `+00:00` is how many languages write UTC; any other offset is a 400. @source areas.md 1 "UTC only" */
export function readExpiry(text: string | null): number | null {
  if (text === null) return null;
  if (!/(?:Z|[+-]00:?00)$/.test(text)) throw invalid('expires_at', 'must be in UTC: end it with "Z"');
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) throw invalid('expires_at', 'is not a time');
  return atMs;
}
