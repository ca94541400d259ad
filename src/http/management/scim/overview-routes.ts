import { z } from 'zod';
import { serializeTime } from '../../../resources/columns.ts';
import type { PushedUser } from '../../../scim/pushed-users.ts';
import type { ScimRequestRow } from '../../../scim/request-log.ts';
import { pageQuerySchema, pageSchema, parseWindow, serializePage } from '../page.ts';
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

const pushedUserSchema = z
  .strictObject({
    id: z.string().describe('That of the user: `DELETE /organization/members/{id}` erases the person.'),
    user_name: z.string(),
    external_id: z.string().nullable(),
    email: z.string(),
    state: z.enum(['active', 'disabled', 'deleted']).describe('`deleted`: by the provider; it can come back.'),
    disabled_by: z
      .enum(['admin', 'scim'])
      .nullable()
      .describe('`admin`: only an admin makes it active again. Null: it is active, or this is not known.'),
    groups: z.int().describe('That it is in.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime().describe('By the provider.'),
    deleted_at: z.iso.datetime().nullable(),
    forgotten_at: z.iso.datetime().nullable().describe('From when on it is erased by itself (`scim.on_delete`).'),
  })
  .meta({ id: 'ScimUser' });

function serializePushedUser(
  user: PushedUser,
  forgottenAfterMs: number | undefined,
): z.output<typeof pushedUserSchema> {
  const { id, userName, externalId, email, disabledAtMs, disabledBy, deletedAtMs } = user;
  const isErased = deletedAtMs !== null && disabledAtMs !== null && forgottenAfterMs !== undefined;
  return {
    id,
    user_name: userName,
    external_id: externalId,
    email,
    state: deletedAtMs !== null ? 'deleted' : disabledAtMs !== null ? 'disabled' : 'active',
    disabled_by: disabledAtMs === null ? null : disabledBy,
    groups: user.groups,
    created_at: serializeTime(user.createdAtMs),
    updated_at: serializeTime(user.modifiedAtMs),
    deleted_at: deletedAtMs === null ? null : serializeTime(deletedAtMs),
    forgotten_at: isErased ? serializeTime(deletedAtMs + forgottenAfterMs) : null,
  };
}

/** @spec scim-16 */
export const listScimUsers = defineRoute({
  method: 'GET',
  path: '/scim/users',
  scope: 'management',
  operationId: 'listScimUsers',
  tag,
  summary: 'List the users that an identity provider pushed, by name, deleted ones included',
  params: NOTHING,
  query: pageQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'A page of users.', schema: pageSchema(pushedUserSchema) } },
  errors: [400, 404],
  async handle({ query, services }) {
    const { users } = scimOf(services);
    const page = await users.list(parseWindow(query));
    return { status: 200, body: serializePage(page, (user) => serializePushedUser(user, users.forgottenAfterMs)) };
  },
});
