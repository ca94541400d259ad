import { z } from 'zod';
import { serializeTime } from '../../../resources/columns.ts';
import { pageSchema, pageShape, parseWindow, serializePage } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { scopeShape, vaultScopeOf } from './vault-shape.ts';

const releaseSchema = z
  .strictObject({
    at: z.iso.datetime().describe('The last time in the hour.'),
    name: z.string(),
    scope: z.enum(['operator', 'workspace', 'intern']),
    workspace_id: z.string().nullable(),
    intern_id: z.string().nullable().describe('The intern whose secret it is; null: another scope.'),
    host: z.string(),
    caller: z.string().describe('What it was for: `provider:alpha`, `mcp:wiki`.'),
    verdict: z.enum(['released', 'refused']),
    count: z.int().describe('In the hour.'),
    key_hash: z.string().nullable().describe('The key whose request it served; null: none.'),
  })
  .meta({ id: 'VaultRelease' });

export const listVaultReleases = defineRoute({
  method: 'GET',
  path: '/vault/releases',
  scope: 'management',
  operationId: 'listVaultReleases',
  tag: 'Vault',
  summary: 'List where secrets were sent, or refused to be, by hour, the newest first',
  params: NOTHING,
  query: z.strictObject({
    ...pageShape,
    workspace_id: scopeShape.workspace_id.describe('A workspace, or `operator`. Default: all.'),
    name: z.string().min(1).optional().describe('Only of the secret of this name.'),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of releases.', schema: pageSchema(releaseSchema) } },
  errors: [400],
  async handle({ query, ...context }) {
    const { name, workspace_id: named } = query;
    const page = await context.services.vault.releases({
      ...parseWindow(query),
      ...(name !== undefined && { name }),
      ...(named !== undefined && { scope: await vaultScopeOf(query, context) }),
    });
    return {
      status: 200,
      body: serializePage(page, (row) => ({
        at: serializeTime(row.lastAtMs),
        name: row.name,
        scope: row.scopeKind,
        workspace_id: row.scopeKind === 'workspace' ? row.scopeId : null,
        intern_id: row.scopeKind === 'intern' ? row.scopeId : null,
        host: row.host,
        caller: row.caller,
        verdict: row.verdict,
        count: row.count,
        key_hash: row.keyHash === '' ? null : row.keyHash,
      })),
    };
  },
});

export const rotateMasterKey = defineRoute({
  method: 'POST',
  path: '/vault/rotate-master-key',
  scope: 'management',
  operationId: 'rotateMasterKey',
  tag: 'Vault',
  summary: 'Make another secret and seal everything stored with it',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'Everything is sealed anew.',
      schema: z.strictObject({
        resealed: z.int().describe('Rows.'),
        secret_id: z.string().describe('Names the new secret, and reveals nothing of it.'),
        unreadable: z.int().describe('Rows whose secret is gone; they stay as they are.'),
      }),
    },
  },
  errors: [409],
  async handle({ services }) {
    const { resealed, secretId, unreadable } = await services.rotateMasterKey();
    return {
      status: 200,
      body: { resealed, secret_id: secretId, unreadable: unreadable.length },
      subject: `secret:${secretId}`,
    };
  },
});
