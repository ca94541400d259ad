import { z } from 'zod';
import { serializeTime } from '../../../resources/columns.ts';
import type { ScimRequestRow } from '../../../scim/request-log.ts';
import { pageQuerySchema } from '../page.ts';
import { defineList } from '../resource-routes.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { scimOf } from './scim-routes.ts';

const tag = 'SCIM';

const requestSchema = z
  .strictObject({
    id: z.string(),
    at: z.iso.datetime(),
    token_id: z.string().nullable(),
    address: z.string(),
    method: z.string(),
    path: z.string().describe('Without its query.'),
    status: z.int(),
    outcome: z.string().describe('What changed, or why not. Empty: nothing changed.'),
  })
  .meta({ id: 'ScimRequest' });

function serializeRequest(row: ScimRequestRow): z.output<typeof requestSchema> {
  const { id, atMs, tokenId, address, method, path, status, outcome } = row;
  return { id, at: serializeTime(atMs), token_id: tokenId, address, method, path, status, outcome };
}

export const listScimRequests = defineList({
  path: '/scim/requests',
  operationId: 'listScimRequests',
  tag,
  summary: 'List the requests of identity providers, newest first',
  params: NOTHING,
  query: pageQuerySchema,
  description: 'A page of the last 1,000 of 30 days. Bodies are not kept, nor requests without a token.',
  errors: [400, 404],
  schema: requestSchema,
  serialize: serializeRequest,
  find: (services, window) => scimOf(services).requests(window),
});

export const getScimStatus = defineRoute({
  method: 'GET',
  path: '/scim/status',
  scope: 'management',
  operationId: 'getScimStatus',
  tag,
  summary: 'What identity providers have pushed, and when they called last',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'The counts, without deleted users.',
      schema: z.strictObject({
        data: z
          .strictObject({
            base_url: z
              .string()
              .nullable()
              .describe('What a provider is to call. Null: below the address of the gateway.'),
            users: z.int(),
            active_users: z.int(),
            groups: z.int(),
            mappings: z.int(),
            last_request: requestSchema.nullable(),
            last_refusal: requestSchema.nullable(),
          })
          .meta({ id: 'ScimStatus' }),
      }),
    },
  },
  errors: [404],
  async handle({ services }) {
    const { overview, baseUrl } = scimOf(services);
    const { users, activeUsers, groups, mappings, lastRequest, lastRefusal } = await overview();
    const data = {
      base_url: baseUrl ?? null,
      users,
      active_users: activeUsers,
      groups,
      mappings,
      last_request: lastRequest === undefined ? null : serializeRequest(lastRequest),
      last_refusal: lastRefusal === undefined ? null : serializeRequest(lastRefusal),
    };
    return { status: 200, body: { data } };
  },
});
