import { z } from 'zod';
import { assert } from '../../../lib/assert.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { limitResetSchema } from '../../../resources/shapes.ts';
import { keyResource } from '../../../resources/keys.ts';
import { defineRoute, NOTHING } from '../route.ts';

const { limit_nano_usd: limit, expires_at_ms: expiry } = keyResource.columns;

const URL_CHARS_MAX = 2_048;
const CHALLENGE_CHARS_MAX = 128;
const LABEL_CHARS_MAX = 100;
const TELEMETRY_CHARS_MAX = 256;

/** @spec key-13 */
const bodySchema = z
  .strictObject({
    callback_url: z
      .url()
      .max(URL_CHARS_MAX)
      .optional()
      .describe('https, or http on localhost. Absent: a person copies the code, which requires a challenge.'),
    code_challenge: z.string().max(CHALLENGE_CHARS_MAX).optional(),
    code_challenge_method: z.enum(['S256', 'plain']).optional(),
    key_label: z.string().min(1).max(LABEL_CHARS_MAX).optional().describe("Default: the application's host."),
    limit: keyResource.createShape.limit,
    usage_limit_type: limitResetSchema.optional(),
    expires_at: z.iso.datetime({ offset: true }).nullable().optional().describe('Of the key, in UTC. Null: never.'),
    workspace_id: z.uuid().optional(),
    spawn_agent: z.string().max(TELEMETRY_CHARS_MAX).optional().describe('Not looked at.'),
    spawn_cloud: z.string().max(TELEMETRY_CHARS_MAX).optional().describe('Not looked at.'),
  })
  .meta({ id: 'CreateAuthCodeRequest' });

export const issueAuthCode = defineRoute({
  method: 'POST',
  path: '/auth/keys/code',
  scope: 'any',
  role: 'member',
  operationId: 'createAuthKeysCode',
  tag: 'OAuth',
  summary: 'Agree to a key for an application: a code that it exchanges for the key, once and within 10 minutes',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: {
    200: {
      description: 'The code.',
      schema: z.strictObject({
        data: z.strictObject({
          id: z.string().describe('The code. It is not shown again.'),
          app_id: z.int().describe("The same for every code of the application's origin."),
          created_at: z.iso.datetime(),
        }),
      }),
    },
  },
  errors: [400, 403, 409, 413, 429],
  // A key is made for the user, and not by the key that stands for it in the dashboard. @spec people-10
  users: async ({ body, services }) => ({
    workspaceId: await services.workspaces.idOf(body.workspace_id),
    isForMembers: true,
  }),
  async handle({ principal, body, services }) {
    assert(principal !== undefined, 'the route is not public');
    const { code, appId, createdAtMs, appOrigin, keyName, workspaceId } = await services.oauth.issue(principal, {
      callbackUrl: body.callback_url,
      challenge: body.code_challenge,
      challengeMethod: body.code_challenge_method,
      keyName: body.key_label,
      limitNanoUsd: limit.parse(body.limit ?? null, 'limit', services),
      limitReset: body.usage_limit_type ?? null,
      keyExpiresAtMs: expiry.parse(body.expires_at ?? null, 'expires_at', services),
      workspaceId: body.workspace_id,
    });
    // The code itself is as good as the key, so no event holds it.
    await services.audit.record({
      actor: principal,
      action: 'createAuthKeysCode',
      subject: '/auth/keys/code',
      changes: {
        application: appOrigin,
        key_label: keyName,
        workspace_id: workspaceId,
        limit: body.limit ?? null,
        usage_limit_type: body.usage_limit_type ?? null,
        expires_at: body.expires_at ?? null,
      },
    });
    return { status: 200, body: { data: { id: code, app_id: appId, created_at: serializeTime(createdAtMs) } } };
  },
});
