import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import {
  containerIdSchema,
  containerPath,
  containerSchema,
  containersOf,
  idPageSchema,
  ownerQuery,
  PAGE_ROWS,
  pageQuery,
  serializeContainer,
  serializeIdPage,
} from './container-shape.ts';

const TAG = 'Containers';
const BYTES_PER_MB = 1_048_576;
const MS_PER_MINUTE = 60_000;
const MEMORY_MB_MIN = 16;
const MINUTES_MAX = 43_200;

export const listContainers = defineRoute({
  method: 'GET',
  path: '/containers',
  scope: 'any',
  role: 'member',
  operationId: 'listContainers',
  tag: TAG,
  summary: 'List the containers of the workspace, by id',
  params: NOTHING,
  query: pageQuery,
  body: NO_BODY,
  responses: { 200: { description: 'A page of containers.', schema: idPageSchema(containerSchema) } },
  errors: [400, 404],
  async handle({ query, ...context }) {
    const { containers, owner } = await containersOf(query, context);
    const page = await containers.list(owner, { limit: query.limit ?? PAGE_ROWS, after: query.after });
    return { status: 200, body: serializeIdPage(page, serializeContainer) };
  },
});

export const createContainer = defineRoute({
  method: 'POST',
  path: '/containers',
  scope: 'any',
  role: 'member',
  operationId: 'createContainer',
  tag: TAG,
  summary: 'Make a container before its first command; one that a command names is made by itself',
  params: NOTHING,
  query: ownerQuery,
  body: z
    .strictObject({
      id: containerIdSchema.optional().describe('Default: one is made up.'),
      memory_mb: z.int().min(MEMORY_MB_MIN).optional().describe('At most what the configuration allows, the default.'),
      network: z
        .literal('none', { error: 'must be none: containers of this gateway reach no network' })
        .optional()
        .describe('Commands reach no network.'),
      expires_after: z
        .strictObject({ anchor: z.literal('last_active_at'), minutes: z.int().min(1).max(MINUTES_MAX) })
        .optional()
        .describe('It is removed after this time without a command. At most what the configuration allows.'),
    })
    .meta({ id: 'CreateContainerRequest' }),
  responses: { 201: { description: 'The container.', schema: containerSchema } },
  errors: [400, 404, 409, 429],
  auditsManagers: true,
  async handle({ query, body, ...context }) {
    const { containers, owner } = await containersOf(query, context);
    const { id, memory_mb: memory, expires_after: expires } = body;
    const made = await containers.create(owner, {
      id,
      memoryBytes: memory === undefined ? undefined : memory * BYTES_PER_MB,
      expiresMs: expires === undefined ? undefined : expires.minutes * MS_PER_MINUTE,
    });
    return { status: 201, body: serializeContainer(made), subject: `/containers/${made.id} in ${owner.workspaceId}` };
  },
});

export const getContainer = defineRoute({
  method: 'GET',
  path: '/containers/{container_id}',
  scope: 'any',
  role: 'member',
  operationId: 'getContainer',
  tag: TAG,
  summary: 'Get one container',
  params: containerPath,
  query: ownerQuery,
  body: NO_BODY,
  responses: { 200: { description: 'The container.', schema: containerSchema } },
  errors: [400, 404],
  async handle({ params, query, ...context }) {
    const { containers, owner } = await containersOf(query, context);
    return { status: 200, body: serializeContainer(await containers.get(owner, params.container_id)) };
  },
});

export const deleteContainer = defineRoute({
  method: 'DELETE',
  path: '/containers/{container_id}',
  scope: 'any',
  role: 'member',
  operationId: 'deleteContainer',
  tag: TAG,
  summary: 'Delete a container with its files, for good',
  params: containerPath,
  query: ownerQuery,
  body: NO_BODY,
  responses: { 200: { description: 'It is gone.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [400, 404, 409],
  auditsManagers: true,
  async handle({ params, query, ...context }) {
    const { containers, owner } = await containersOf(query, context);
    await containers.remove(owner, params.container_id);
    return {
      status: 200,
      body: { deleted: true },
      subject: `/containers/${params.container_id} in ${owner.workspaceId}`,
    };
  },
});
