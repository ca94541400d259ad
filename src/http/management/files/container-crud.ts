import { z } from 'zod';
import type { Files } from '../../../accounts/files.ts';
import { GatewayError, invalid } from '../../../canonical/gateway-error.ts';
import type { ContainerRoutes } from '../../../containers/container-routes.ts';
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
const FILES_MAX = 20;
/** Of all of them together. */
const FILES_BYTES_MAX = 209_715_200;

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
      file_ids: z
        .array(z.string().min(1))
        .max(FILES_MAX)
        .optional()
        .describe('Files of the workspace, which commands read below `/mnt/files` and cannot change.'),
      expires_after: z
        .strictObject({ anchor: z.literal('last_active_at'), minutes: z.int().min(1).max(MINUTES_MAX) })
        .optional()
        .describe('It is removed after this time without a command. At most what the configuration allows.'),
    })
    .meta({ id: 'CreateContainerRequest' }),
  responses: { 201: { description: 'The container.', schema: containerSchema } },
  errors: [400, 404, 409, 413, 429, 503],
  auditsManagers: true,
  async handle({ query, body, ...context }) {
    const { containers, owner } = await containersOf(query, context);
    const { id, memory_mb: memory, expires_after: expires, file_ids: fileIds = [] } = body;
    const files = await findFiles(context.services.files, owner, fileIds);
    const made = await containers.create(owner, {
      id,
      memoryBytes: memory === undefined ? undefined : memory * BYTES_PER_MB,
      expiresMs: expires === undefined ? undefined : expires.minutes * MS_PER_MINUTE,
    });
    await giveFiles(containers, context.services.files, owner, { id: made.id, files });
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

type Owner = Awaited<ReturnType<typeof containersOf>>['owner'];
type FileFacts = Awaited<ReturnType<Files['get']>>;

/** @throws GatewayError 400 for a file that there is not, or one twice, 413 for more than all of them may have */
async function findFiles(
  files: Pick<Files, 'get'>,
  owner: Owner,
  ids: readonly string[],
): Promise<readonly FileFacts[]> {
  const found: FileFacts[] = [];
  for (const [at, id] of ids.entries()) {
    if (ids.indexOf(id) < at) throw invalid(`file_ids[${at}]`, 'is there twice');
    found.push(await files.get(owner, id).catch((error: unknown) => Promise.reject(asIssue(error, at))));
  }
  const bytes = found.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes > FILES_BYTES_MAX)
    throw new GatewayError(
      'payload_too_large',
      `The files of a container have at most ${FILES_BYTES_MAX} bytes together.`,
    );
  return found;
}

function asIssue(error: unknown, at: number): unknown {
  if (!(error instanceof GatewayError) || error.status !== 404) return error;
  return invalid(`file_ids[${at}]`, 'is no file of this workspace');
}

/** A container without one of its files is none. @throws GatewayError 413, 503 */
async function giveFiles(
  containers: ContainerRoutes,
  service: Pick<Files, 'open'>,
  owner: Owner,
  { id, files }: { readonly id: string; readonly files: readonly FileFacts[] },
): Promise<void> {
  const taken = new Set<string>();
  try {
    for (const { id: fileId, filename } of files) {
      const { content } = await service.open(owner, fileId);
      const plain = filename.replaceAll(/[/\0]/g, '_');
      const name = taken.has(plain) || /^\.{0,2}$/.test(plain) ? `${fileId}-${plain}` : plain;
      taken.add(name);
      await containers.upload(owner, id, name, content, 'files').finally(() => content.destroy());
    }
  } catch (error) {
    await containers.remove(owner, id);
    throw error;
  }
}
