import { z } from 'zod';
import { invalid } from '../../../canonical/gateway-error.ts';
import { isOwnFileId } from '../../../canonical/tools/stored-files.ts';
import { ownerOf } from '../owner.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { serializeFiles, fileListSchema, fileQueryShape, shapeFor } from './file-shape.ts';

/** @spec file-4 */
const PAGE_FILES = 100;
const PAGE_FILES_MAX = 1_000;

const query = z.strictObject({
  ...fileQueryShape,
  limit: z.coerce.number().int().min(1).max(PAGE_FILES_MAX).optional().describe('Files on the page. Default 100.'),
  cursor: z.string().optional().describe('From the page before.'),
  after: z.string().optional().describe('The last id of the page before, for clients of one vendor.'),
  after_id: z.string().optional().describe('The same, for clients of the other.'),
  page: z.string().optional().describe('The same, for its later clients.'),
  before_id: z.undefined({ error: 'is not supported: files are listed forwards' }).optional(),
  order: z.literal('asc', { error: 'must be "asc", the oldest first' }).optional(),
});

export const listFiles = defineRoute({
  method: 'GET',
  path: '/files',
  scope: 'any',
  role: 'member',
  operationId: 'listFiles',
  tag: 'Files',
  summary: "The files of the key's workspace, oldest first",
  params: NOTHING,
  query,
  body: NO_BODY,
  responses: { 200: { description: 'A page of files.', schema: fileListSchema } },
  errors: [400, 404],
  async handle({ query: requested, headers, ...context }) {
    const window = { afterId: parseAfter(requested), limit: requested.limit ?? PAGE_FILES, purpose: requested.purpose };
    const page = await context.services.files.list(await ownerOf(requested, context), window);
    const shape = shapeFor({ headers, purpose: requested.purpose ?? requested.after });
    return { status: 200, body: serializeFiles(page, shape) };
  },
});

/**
 * Parses the id after which the list goes on; the id of a deleted file works too.
 * @throws GatewayError 400 for what is no id
 */
function parseAfter(requested: z.output<typeof query>): string | undefined {
  for (const name of ['cursor', 'after', 'after_id', 'page'] as const) {
    const id = requested[name];
    if (id === undefined) continue;
    if (!isOwnFileId(id)) throw invalid(`query.${name}`, 'is not the id of a file');
    return id;
  }
  return undefined;
}
