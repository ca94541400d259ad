import { z } from 'zod';
import { assert } from '../../lib/assert.ts';
import { drawSpend, drawTime, drawUsd, limitResetSchema, spendShape } from './keys/key-shape.ts';
import { defineRoute, NO_BODY, NOTHING } from './route.ts';

/** @source areas.md 1 "`GET /key` adds"; reference shapes, `GET /key` */
const ownKeySchema = z
  .strictObject({
    label: z.string().describe('A masked excerpt of the key.'),
    limit: z.number().nullable(),
    limit_remaining: z.number().nullable(),
    limit_reset: limitResetSchema,
    include_byok_in_limit: z.boolean(),
    expires_at: z.iso.datetime().nullable(),
    creator_user_id: z.string().nullable(),
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
      limit: drawUsd(record.limitNanoUsd),
      limit_remaining: drawUsd(record.limitRemainingNanoUsd),
      limit_reset: record.limitReset,
      include_byok_in_limit: record.includeByokInLimit,
      expires_at: record.expiresAtMs === null ? null : drawTime(record.expiresAtMs),
      creator_user_id: record.creatorUserId,
      is_free_tier: false,
      is_management_key: isManagementKey,
      is_provisioning_key: isManagementKey,
      rate_limit: { requests: -1, interval: '10s', note: 'Deprecated. Says nothing about the key.' },
      ...drawSpend(record),
    };
    return { status: 200, body: { data } };
  },
});
