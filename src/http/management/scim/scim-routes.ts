import { z } from 'zod';
import type { ScimMappings } from '../../../scim/mappings.ts';
import { SCIM_IS_OFF } from '../../../scim/scim-error.ts';
import type { ScimTokenRow } from '../../../scim/tokens.ts';
import { GatewayError, invalid } from '../../../canonical/gateway-error.ts';
import { serializeTime } from '../../../resources/columns.ts';
import { pageQuerySchema, pageSchema, parseWindow, serializePage } from '../page.ts';
import { defineDelete, defineList } from '../resource-routes.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import type { ScimServices } from './services.ts';

const tag = 'SCIM';
const NAME_CHARS_MAX = 100;
const time = z.iso.datetime();
const role = z.enum(['admin', 'member']);
const idPath = z.strictObject({ id: z.string() });

/** @throws GatewayError 404 where it is off */
export function scimOf({ scim }: { readonly scim?: ScimServices | undefined }): ScimServices {
  if (scim !== undefined) return scim;
  throw new GatewayError('not_found', SCIM_IS_OFF);
}

const tokenSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    label: z.string().describe('A masked excerpt.'),
    created_at: time,
    expires_at: time.nullable(),
    last_used_at: time.nullable().describe('To the minute.'),
    last_used_from: z.string().nullable().describe('The address that sent it.'),
  })
  .meta({ id: 'ScimToken' });

function serializeToken(row: ScimTokenRow): z.output<typeof tokenSchema> {
  const { id, name, label, createdAtMs, expiresAtMs, lastUsedAtMs, lastUsedFrom } = row;
  return {
    id,
    name,
    label,
    created_at: serializeTime(createdAtMs),
    expires_at: expiresAtMs === null ? null : serializeTime(expiresAtMs),
    last_used_at: lastUsedAtMs === null ? null : serializeTime(lastUsedAtMs),
    last_used_from: lastUsedFrom,
  };
}

export const createScimToken = defineRoute({
  method: 'POST',
  path: '/scim/tokens',
  scope: 'management',
  operationId: 'createScimToken',
  tag,
  summary: 'Make a token for an identity provider; the response is the only one that shows it',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: z
    .strictObject({
      name: z.string().min(1).max(NAME_CHARS_MAX),
      expires_at: time.nullable().optional().describe('Default: in a year. Null: never.'),
    })
    .meta({ id: 'CreateScimTokenRequest' }),
  responses: {
    201: {
      description: 'The token, shown this once.',
      schema: z.strictObject({ data: tokenSchema, token: z.string() }),
    },
  },
  errors: [400, 404, 409, 413],
  async handle({ body, services }) {
    const { expires_at: expiresAt } = body;
    const expiresAtMs = expiresAt === undefined || expiresAt === null ? expiresAt : Date.parse(expiresAt);
    const { row, token } = await scimOf(services).tokens.create(body.name, expiresAtMs);
    return { status: 201, body: { data: serializeToken(row), token } };
  },
});

export const listScimTokens = defineRoute({
  method: 'GET',
  path: '/scim/tokens',
  scope: 'management',
  operationId: 'listScimTokens',
  tag,
  summary: 'List tokens of identity providers, newest first',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'At most 5.', schema: z.strictObject({ data: z.array(tokenSchema) }) } },
  errors: [404],
  async handle({ services }) {
    return { status: 200, body: { data: (await scimOf(services).tokens.list()).map(serializeToken) } };
  },
});

export const deleteScimToken = defineDelete({
  path: '/scim/tokens/{id}',
  operationId: 'deleteScimToken',
  tag,
  summary: 'Delete a token; it opens nothing any more',
  params: idPath,
  description: 'It is gone.',
  remove: (services, { id }) => scimOf(services).tokens.delete(id),
});

const groupSchema = z
  .strictObject({
    id: z.string(),
    display_name: z.string(),
    external_id: z.string().nullable(),
    organization_id: z.string(),
    member_count: z.int(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'ScimGroup' });

export const listScimGroups = defineList({
  path: '/scim/groups',
  operationId: 'listScimGroups',
  tag,
  summary: 'List the groups that an identity provider pushed',
  params: NOTHING,
  query: pageQuerySchema,
  description: 'A page of groups.',
  errors: [400, 404],
  schema: groupSchema,
  serialize: (group: Awaited<ReturnType<ScimMappings['groups']>>['rows'][number]): z.output<typeof groupSchema> => ({
    id: group.id,
    display_name: group.displayName,
    external_id: group.externalId,
    organization_id: group.organizationId,
    member_count: group.memberCount,
    created_at: serializeTime(group.createdAtMs),
    updated_at: serializeTime(group.modifiedAtMs),
  }),
  find: (services, window) => scimOf(services).mappings.groups(window),
});

const mappingSchema = z
  .strictObject({
    id: z.string(),
    scim_group_id: z.string(),
    workspace_id: z.string(),
    role,
    created_at: time,
    updated_at: time.nullable(),
  })
  .meta({ id: 'ScimGroupMapping' });
const mappingAnswer = z.strictObject({ data: mappingSchema });

function serializeMapping(row: Awaited<ReturnType<ScimMappings['get']>>): z.output<typeof mappingSchema> {
  return {
    id: row.id,
    scim_group_id: row.groupId,
    workspace_id: row.workspaceId,
    role: row.role,
    created_at: serializeTime(row.createdAtMs),
    updated_at: row.updatedAtMs === null ? null : serializeTime(row.updatedAtMs),
  };
}

export const listScimGroupMappings = defineRoute({
  method: 'GET',
  path: '/scim/group-mappings',
  scope: 'management',
  operationId: 'listScimGroupMappings',
  tag,
  summary: 'List which groups are members of which workspaces',
  params: NOTHING,
  query: pageQuerySchema,
  body: NO_BODY,
  responses: { 200: { description: 'A page of mappings.', schema: pageSchema(mappingSchema) } },
  errors: [400, 404],
  async handle({ query, services }) {
    return {
      status: 200,
      body: serializePage(await scimOf(services).mappings.list(parseWindow(query)), serializeMapping),
    };
  },
});

export const createScimGroupMapping = defineRoute({
  method: 'POST',
  path: '/scim/group-mappings',
  scope: 'management',
  operationId: 'createScimGroupMapping',
  tag,
  summary: 'Make the members of a group members of a workspace',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: z
    .strictObject({
      scim_group_id: z.string().min(1),
      workspace_id: z.string().min(1).describe('Its id or slug.'),
      role,
    })
    .meta({ id: 'CreateScimGroupMappingRequest' }),
  responses: { 201: { description: 'The mapping.', schema: mappingAnswer } },
  errors: [400, 404, 409, 413],
  async handle({ body, services }) {
    const row = await scimOf(services).mappings.create(body.scim_group_id, body.workspace_id, body.role);
    return { status: 201, body: { data: serializeMapping(row) } };
  },
});

export const getScimGroupMapping = defineRoute({
  method: 'GET',
  path: '/scim/group-mappings/{id}',
  scope: 'management',
  operationId: 'getScimGroupMapping',
  tag,
  summary: 'One mapping',
  params: idPath,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The mapping.', schema: mappingAnswer } },
  errors: [404],
  async handle({ params, services }) {
    return { status: 200, body: { data: serializeMapping(await scimOf(services).mappings.get(params.id)) } };
  },
});

export const updateScimGroupMapping = defineRoute({
  method: 'PATCH',
  path: '/scim/group-mappings/{id}',
  scope: 'management',
  operationId: 'updateScimGroupMapping',
  tag,
  summary: 'Change what the members of a group are in a workspace',
  audited: 'values',
  params: idPath,
  query: NOTHING,
  body: z.strictObject({ role }).meta({ id: 'UpdateScimGroupMappingRequest' }),
  responses: { 200: { description: 'After the change.', schema: mappingAnswer } },
  errors: [400, 404, 413],
  async handle({ params, body, services }) {
    const row = await scimOf(services).mappings.update(params.id, body.role);
    return { status: 200, body: { data: serializeMapping(row) } };
  },
});

export const deleteScimGroupMapping = defineRoute({
  method: 'DELETE',
  path: '/scim/group-mappings/{id}',
  scope: 'management',
  operationId: 'deleteScimGroupMapping',
  tag,
  summary: 'Delete a mapping, with or without the memberships that it gave',
  params: idPath,
  query: z.strictObject({
    keep_members: z
      .enum(['true', 'false'])
      .optional()
      .describe(
        'Required. `true`: its members stay, with their role. `false`: those that it alone made members leave.',
      ),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'It is gone.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [400, 404],
  async handle({ params, query, services }) {
    const { mappings } = scimOf(services);
    await mappings.get(params.id);
    if (query.keep_members === undefined) throw invalid('query.keep_members', 'is required: true or false');
    await mappings.delete(params.id, query.keep_members === 'true');
    return { status: 200, body: { deleted: true } };
  },
});
