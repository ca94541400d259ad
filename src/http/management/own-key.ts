import { z } from 'zod';
import { DEFAULT_ACCOUNT_ID } from '../../accounts/principal.ts';
import { assert } from '../../lib/assert.ts';
import { serializeTime, serializeUsd } from '../../resources/columns.ts';
import { limitResetSchema, spendShape } from '../../resources/shapes.ts';
import { serializeSpend } from './keys/key-shape.ts';
import { defineRoute, NO_BODY, NOTHING } from './route.ts';

/** @spec key-11 */
const ownKeySchema = z
  .strictObject({
    label: z.string().describe('A masked excerpt of the key.'),
    limit: z.number().nullable(),
    limit_remaining: z.number().nullable(),
    limit_reset: limitResetSchema,
    include_byok_in_limit: z.boolean(),
    expires_at: z.iso.datetime().nullable(),
    creator_user_id: z.string().nullable(),
    organization_id: z.string(),
    workspace_id: z.string(),
    allowed_data_regions: z.array(z.string()).describe('`global`: no key is bound to a region here.'),
    free_model_daily_requests: z
      .strictObject({ limit: z.int(), used: z.int(), remaining: z.int() })
      .describe('Says nothing, -1: requests of `:free` models are counted for all callers together.'),
    is_free_tier: z.boolean(),
    is_management_key: z.boolean(),
    is_provisioning_key: z.boolean().meta({ deprecated: true, description: 'Use `is_management_key`.' }),
    rate_limit: z
      .strictObject({ requests: z.int(), interval: z.string(), note: z.string() })
      .meta({ deprecated: true, description: 'Says nothing: `requests` is always -1.' }),
    ...spendShape,
  })
  .meta({ id: 'OwnKey' });

export const getOwnKey = defineRoute({
  method: 'GET',
  path: '/key',
  scope: 'any',
  role: 'member',
  readsRecords: true,
  operationId: 'getOwnKey',
  tag: 'API keys',
  summary: 'Facts about the key that calls',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The calling key.', schema: z.strictObject({ data: ownKeySchema }) } },
  errors: [],
  async handle({ principal, services }) {
    assert(principal !== undefined, 'only a key gets here');
    const record = await services.keys.describe(principal);
    const isManagementKey = record.kind === 'management';
    const data: z.output<typeof ownKeySchema> = {
      label: record.label,
      limit: serializeUsd(record.limitNanoUsd),
      limit_remaining: serializeUsd(record.limitRemainingNanoUsd),
      limit_reset: record.limitReset,
      include_byok_in_limit: record.includeByokInLimit,
      expires_at: record.expiresAtMs === null ? null : serializeTime(record.expiresAtMs),
      creator_user_id: record.creatorUserId,
      organization_id: DEFAULT_ACCOUNT_ID,
      workspace_id: record.workspaceId,
      allowed_data_regions: ['global'],
      free_model_daily_requests: { limit: -1, used: -1, remaining: -1 },
      is_free_tier: false,
      is_management_key: isManagementKey,
      is_provisioning_key: isManagementKey,
      rate_limit: { requests: -1, interval: '10s', note: 'Deprecated. Says nothing about the key.' },
      ...serializeSpend(record),
    };
    return { status: 200, body: { data } };
  },
});
