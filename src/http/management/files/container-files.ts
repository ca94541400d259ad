import { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { fileSchema, serializeFile, shapeFor } from './file-shape.ts';
import { encodeName } from './content.ts';
import { readForm } from './read-form.ts';
import { defineRoute, NO_BODY, type RouteContext } from '../route.ts';
import {
  containerFileSchema,
  containerPath,
  containersOf,
  filePath,
  idPageSchema,
  ownerQuery,
  PAGE_ROWS,
  pageQuery,
  serializeContainerFile,
  serializeIdPage,
} from './container-shape.ts';

const TAG = 'Containers';
/** A file of 100 MB and the form around it. */
const FORM_BYTES_MAX = 101 * 1_024 * 1_024;
const bytes = z.string().meta({ format: 'binary' });

export const listContainerFiles = defineRoute({
  method: 'GET',
  path: '/containers/{container_id}/files',
  scope: 'any',
  role: 'member',
  operationId: 'listContainerFiles',
  tag: TAG,
  summary: 'List the files of a container, by path',
  params: containerPath,
  query: pageQuery,
  body: NO_BODY,
  responses: { 200: { description: 'A page of files.', schema: idPageSchema(containerFileSchema) } },
  errors: [400, 404],
  async handle({ params: { container_id: id }, query, ...context }) {
    const { containers, owner } = await containersOf(query, context);
    const page = await containers.files(owner, id, { limit: query.limit ?? PAGE_ROWS, after: query.after });
    return { status: 200, body: serializeIdPage(page, (file) => serializeContainerFile(id, file)) };
  },
});

export const uploadContainerFile = defineRoute({
  method: 'POST',
  path: '/containers/{container_id}/files',
  scope: 'any',
  role: 'member',
  operationId: 'uploadContainerFile',
  tag: TAG,
  summary: 'Put a file below /mnt/uploads, where commands read it; one of the same name is replaced',
  params: containerPath,
  query: ownerQuery,
  body: z.instanceof(IncomingMessage, { error: 'must be a form with a file' }),
  upload: { bytesMax: FORM_BYTES_MAX, form: z.object({ file: bytes }) },
  responses: { 201: { description: 'The file.', schema: containerFileSchema } },
  errors: [400, 404, 408, 413],
  auditsManagers: true,
  async handle({ params: { container_id: id }, query, body, ...context }) {
    const { containers, owner } = await containersOf(query, context);
    const form = readForm(body);
    try {
      const { filename, chunks } = await form.file();
      const file = await containers.upload(owner, id, filename, chunks);
      return {
        status: 201,
        body: serializeContainerFile(id, file),
        subject: `/containers/${id}/files in ${owner.workspaceId}`,
      };
    } catch (error) {
      // The caller disconnected. That is no bug to report, and no response reaches the caller.
      if (body.destroyed && !body.complete)
        throw new GatewayError('invalid_request', 'The request body broke off.', { cause: error });
      throw error;
    } finally {
      form.close();
    }
  },
});

export const getContainerFile = defineRoute({
  method: 'GET',
  path: '/containers/{container_id}/files/{file_id}',
  scope: 'any',
  role: 'member',
  operationId: 'getContainerFile',
  tag: TAG,
  summary: 'What is known of a file of a container',
  params: filePath,
  query: ownerQuery,
  body: NO_BODY,
  responses: { 200: { description: 'The file.', schema: containerFileSchema } },
  errors: [400, 404],
  async handle({ params: { container_id: id, file_id: fileId }, query, ...context }) {
    const { containers, owner } = await containersOf(query, context);
    const { file, content } = await containers.open(owner, id, fileId);
    content.destroy();
    return { status: 200, body: serializeContainerFile(id, file) };
  },
});

export const downloadContainerFile = defineRoute({
  method: 'GET',
  path: '/containers/{container_id}/files/{file_id}/content',
  scope: 'any',
  role: 'member',
  readsContentAs: 'readContainerFile',
  operationId: 'downloadContainerFile',
  tag: TAG,
  summary: 'The bytes of a file of a container; a management key needs a workspace that keeps content',
  params: filePath,
  query: ownerQuery,
  body: NO_BODY,
  responses: { 200: { description: 'The bytes.', schema: bytes, contentType: 'application/octet-stream' } },
  errors: [400, 403, 404],
  async handle({ params: { container_id: id, file_id: fileId }, query, ...context }) {
    const { containers, owner } = await containersOf(query, context);
    await requireSight(owner.workspaceId, context);
    const { file, content } = await containers.open(owner, id, fileId);
    return {
      status: 200,
      body: content,
      contentType: 'application/octet-stream',
      headers: {
        'content-length': String(file.bytes),
        // A model's output must not run in a browser as a page of the gateway.
        'content-disposition': `attachment; filename*=UTF-8''${encodeName(nameOf(file.path))}`,
        'x-content-type-options': 'nosniff',
      },
    };
  },
});

export const promoteContainerFile = defineRoute({
  method: 'POST',
  path: '/containers/{container_id}/files/{file_id}/promote',
  scope: 'any',
  role: 'member',
  operationId: 'promoteContainerFile',
  tag: TAG,
  summary: 'Copy a file of a container to the files of its workspace, where it stays and can be named in requests',
  params: filePath,
  query: ownerQuery,
  body: NO_BODY,
  responses: { 200: { description: 'The file, as the routes of files show it.', schema: fileSchema } },
  errors: [400, 403, 404, 413, 429, 503],
  auditsManagers: true,
  async handle({ params: { container_id: id, file_id: fileId }, query, headers, ...context }) {
    const { containers, owner } = await containersOf(query, context);
    await requireSight(owner.workspaceId, context);
    const { file, content } = await containers.open(owner, id, fileId);
    try {
      const stored = await context.services.files.keep(owner, { filename: nameOf(file.path), chunks: content });
      return {
        status: 200,
        body: serializeFile(stored, shapeFor({ headers, purpose: undefined })),
        subject: `/files/${stored.id}`,
      };
    } finally {
      content.destroy();
    }
  },
});

/** Operators see what models make in a workspace where it keeps content. @spec container-13 */
async function requireSight(
  workspaceId: string,
  { principal, services }: Pick<RouteContext<unknown, unknown, unknown>, 'principal' | 'services'>,
): Promise<void> {
  if (principal?.kind !== 'management') return;
  const { isIoLoggingEnabled } = await services.workspaces.get(workspaceId);
  if (isIoLoggingEnabled) return;
  throw new GatewayError(
    'permission_denied',
    'The workspace keeps no content, so its files are for its own keys; is_observability_io_logging_enabled of the workspace changes that.',
  );
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
