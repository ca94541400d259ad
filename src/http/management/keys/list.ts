import { z } from 'zod';
import { administers } from '../../../accounts/people/viewer.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { serializeKey, keySchema } from './key-shape.ts';
import { keyLimitSchema, serializeLimit } from './limits.ts';

/** The size of a page is fixed. @spec key-4 */
const PAGE_KEYS = 100;

const listedSchema = keySchema.extend({
  binding: keyLimitSchema.nullable().optional().describe('With `include=binding`. Null: nothing bounds it.'),
});

export const listKeys = defineRoute({
  method: 'GET',
  path: '/keys',
  scope: 'management',
  readsRecords: true,
  operationId: 'listKeys',
  tag: 'API keys',
  summary: 'List the keys of a workspace, newest first, 100 a page',
  params: NOTHING,
  query: z.strictObject({
    include_disabled: z.enum(['true', 'false']).optional().describe('Default false.'),
    offset: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('Keys to skip. Default 0.'),
    workspace_id: z.uuid().optional().describe('Default: the default workspace.'),
    creator_user_id: z.string().min(1).optional().describe('Only keys that were made for this user.'),
    issuer_key_hash: z.string().min(1).optional().describe('Only keys that this key made. It may be deleted.'),
    kind: z.enum(['normal', 'management']).optional().describe('Default: keys for generations.'),
    include: z.enum(['binding']).optional().describe('`binding`: of each key the limit with the least left.'),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of keys.', schema: z.strictObject({ data: z.array(listedSchema) }) } },
  errors: [400],
  users: async ({ query, services }) => ({
    workspaceId: await services.workspaces.idOf(query.workspace_id),
    isForMembers: true,
  }),
  async handle({ query, viewer, services }) {
    // OpenRouter docs, "List API keys", `workspace_id`, read 2026-11: the default is the default workspace.
    const workspaceId = query.workspace_id ?? (await services.workspaces.idOf(undefined));
    const seesAll = viewer === undefined || administers(viewer, workspaceId);
    const creatorUserId = seesAll ? query.creator_user_id : viewer.userId;
    const records = await services.keys.list({
      kind: viewer === undefined ? (query.kind ?? 'normal') : 'normal',
      includeDisabled: query.include_disabled === 'true',
      offset: query.offset ?? 0,
      limit: PAGE_KEYS,
      workspaceId,
      ...(creatorUserId !== undefined && { creatorUserId }),
      ...(query.issuer_key_hash !== undefined && { issuerKeyHash: query.issuer_key_hash }),
    });
    if (query.include === undefined) return { status: 200, body: { data: records.map(serializeKey) } };
    const limits = await services.keyLimits.of(records);
    const data = records.map((record) => {
      const [binding] = limits.get(record.hash) ?? [];
      return { ...serializeKey(record), binding: binding === undefined ? null : serializeLimit(binding) };
    });
    return { status: 200, body: { data } };
  },
});
