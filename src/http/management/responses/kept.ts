import { z } from 'zod';
import { administers, belongsTo, notYours } from '../../../accounts/people/viewer.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { serializeTime } from '../../../resources/columns.ts';
import type { KeptSight } from '../../../stored-responses/stored-responses.ts';
import { ownerOf, ownerShape } from '../owner.ts';
import { filterSchema } from '../page.ts';
import { defineRoute, NO_BODY, NO_CONTENT, NOTHING, type RouteContext } from '../route.ts';
import { responsePathSchema } from './response-path.ts';

const ROWS = 50;
const ROWS_MAX = 100;
/** Of one user in one workspace. */
const OWN_KEYS_MAX = 100;

const text = z.string().nullable();

const keptSchema = z
  .strictObject({
    id: z.string(),
    status: z.string().describe('As it was kept; of one that runs `queued` or `in_progress`.'),
    api_key_hash: z.string(),
    api_key_name: text.describe('Null: a key from the environment.'),
    workspace_id: z.string(),
    previous_response_id: text,
    size_bytes: z.int(),
    created_at: z.iso.datetime(),
    expires_at: z.iso
      .datetime()
      .nullable()
      .describe('Null: each use moves its end, or it is kept until it is deleted.'),
    background_runs: z.int().nullable().describe('How often it began to run in the background. Null: it did not.'),
  })
  .meta({ id: 'KeptResponse' });

const FACTS = { scope: 'any', role: 'member', tag: 'Responses', body: NO_BODY, users: 'narrowed' } as const;

type Context = Pick<
  RouteContext<unknown, { readonly workspace_id?: string | undefined }, unknown>,
  'principal' | 'viewer' | 'query' | 'services'
>;

/** Management keys see all of a workspace, a normal key what it may read, users what their keys did or all that they administer. */
async function sightOf({ principal, viewer, query, services }: Context): Promise<KeptSight> {
  const { kind, ...owner } = await ownerOf(query, { principal, services });
  if (kind !== 'management') return services.storedResponses.kept.sightOf({ kind, ...owner });
  const { accountId, workspaceId } = owner;
  if (viewer === undefined || administers(viewer, workspaceId)) return { accountId, workspaceId };
  if (!belongsTo(viewer, workspaceId)) throw notYours();
  const keys = await services.keys.list({
    kind: 'normal',
    includeDisabled: true,
    offset: 0,
    limit: OWN_KEYS_MAX,
    workspaceId,
    creatorUserId: viewer.userId,
  });
  return { accountId, workspaceId, keyHashes: keys.map(({ hash }) => hash) };
}

export const listKeptResponses = defineRoute({
  ...FACTS,
  method: 'GET',
  path: '/responses/kept',
  operationId: 'listKeptResponses',
  summary:
    'List kept responses of a workspace, newest first, without their content; a normal key sees what it may read',
  params: NOTHING,
  query: z.strictObject({
    ...ownerShape,
    key: filterSchema.describe('The hash of a key.'),
    limit: z.coerce.number().int().min(1).max(ROWS_MAX).optional().describe(`Default ${ROWS}.`),
    cursor: filterSchema.describe('`next_cursor` of the page before.'),
  }),
  responses: {
    200: { description: 'A page.', schema: z.strictObject({ data: z.array(keptSchema), next_cursor: text }) },
  },
  errors: [400, 404, 503],
  async handle({ query, services, ...context }) {
    const { limit = ROWS, key, cursor } = query;
    const sight = await sightOf({ ...context, query, services });
    const keyHashes = key === undefined || sight.keyHashes?.includes(key) === false ? undefined : [key];
    const isHidden = key !== undefined && keyHashes === undefined;
    const found = isHidden
      ? []
      : await services.storedResponses.kept.list({
          ...sight,
          ...(keyHashes !== undefined && { keyHashes }),
          limit: limit + 1,
          after: cursor === undefined ? undefined : decodeCursor(cursor),
        });
    const rows = found.slice(0, limit);
    const names = await services.generations.keyNames([...new Set(rows.map(({ owner }) => owner.keyHash))]);
    const last = found.length > limit ? rows.at(-1) : undefined;
    return {
      status: 200,
      body: {
        data: rows.map(({ id, status, owner, parentId, bytes, createdAtMs, expiresAtMs, runs }) => ({
          id,
          status,
          api_key_hash: owner.keyHash,
          api_key_name: names.get(owner.keyHash) ?? null,
          workspace_id: owner.workspaceId,
          previous_response_id: parentId,
          size_bytes: bytes,
          created_at: serializeTime(createdAtMs),
          expires_at: expiresAtMs === null ? null : serializeTime(expiresAtMs),
          background_runs: runs,
        })),
        next_cursor: last === undefined ? null : Buffer.from(`${last.createdAtMs} ${last.id}`).toString('base64url'),
      },
    };
  },
});

export const cancelKeptResponse = defineRoute({
  ...FACTS,
  method: 'POST',
  path: '/responses/kept/{response_id}/cancel',
  operationId: 'cancelKeptResponse',
  summary: 'Stop a background response of a workspace',
  params: responsePathSchema,
  query: z.strictObject(ownerShape),
  responses: { 204: { description: 'It stops.', schema: NO_CONTENT } },
  errors: [400, 404, 503],
  auditsManagers: true,
  async handle({ params, services, ...context }) {
    await services.storedResponses.kept.cancel(await sightOf({ ...context, services }), params.response_id);
    return { status: 204, body: '' };
  },
});

export const deleteKeptResponse = defineRoute({
  ...FACTS,
  method: 'DELETE',
  path: '/responses/kept/{response_id}',
  operationId: 'deleteKeptResponse',
  summary: 'Delete a kept response of a workspace, without reading it',
  params: responsePathSchema,
  query: z.strictObject(ownerShape),
  responses: { 204: { description: 'It is gone.', schema: NO_CONTENT } },
  errors: [400, 404, 503],
  auditsManagers: true,
  async handle({ params, services, ...context }) {
    await services.storedResponses.kept.delete(await sightOf({ ...context, services }), params.response_id);
    return { status: 204, body: '' };
  },
});

/** @throws GatewayError 400 for what no page gave */
function decodeCursor(cursor: string): { readonly createdAtMs: number; readonly id: string } {
  const [, at, id] = /^(\d{1,16}) (\S{1,256})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  if (at === undefined || id === undefined) throw invalid('query.cursor', 'is not the next_cursor of a page');
  return { createdAtMs: Number(at), id };
}
