import { z } from 'zod';
import type { Intern } from '../../../interns/rows.ts';
import { effectiveSecrets } from '../../../vault/intern-vault.ts';
import { internPath, internsOf } from '../interns/intern-shape.ts';
import { pageSchema, serializePage } from '../page.ts';
import { defineRoute, NO_BODY, NO_CONTENT, NOTHING, type RouteContext } from '../route.ts';
import {
  putSecretBody,
  requireOperator,
  requireWriter,
  secretWindow,
  serializeVaultSecret,
  subjectOf,
  vaultSecretSchema,
  windowOf,
} from './vault-shape.ts';

const NAMES_MAX = 100;
const secretPath = internPath.extend({ name: z.string().describe('The `name` of the secret.') });
const scopeOf = ({ id }: Intern) => ({ kind: 'intern', id }) as const;

type Context = Pick<RouteContext<unknown, unknown, unknown>, 'principal' | 'services'>;

/** @throws GatewayError 403, 404 */
async function writable(context: Context, internId: string): Promise<Intern> {
  const { interns, caller } = internsOf(context);
  const row = await interns.getOwn(caller, internId);
  await requireWriter(context.principal, context.services);
  return row;
}

export const listInternSecrets = defineRoute({
  method: 'GET',
  path: '/vault/interns/{internId}/secrets',
  scope: 'any',
  role: 'member',
  operationId: 'listInternSecrets',
  tag: 'Vault',
  summary: 'List the secrets of an intern by name, without their values',
  params: internPath,
  query: z.strictObject(secretWindow),
  body: NO_BODY,
  responses: {
    200: {
      description: 'A page of secrets.',
      schema: pageSchema(vaultSecretSchema).extend({ has_more: z.boolean().describe('Whether rows follow.') }),
    },
  },
  errors: [400, 404],
  async handle({ params, query, ...context }) {
    const { interns, caller } = internsOf(context);
    const window = windowOf(query);
    const scope = scopeOf(await interns.get(caller, params.internId));
    const page = await context.services.vault.list(scope, window);
    const hasMore = window.offset + page.rows.length < page.totalCount;
    return { status: 200, body: { ...serializePage(page, serializeVaultSecret), has_more: hasMore } };
  },
});

export const putInternSecret = defineRoute({
  method: 'PUT',
  path: '/vault/interns/{internId}/secrets/{name}',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'putInternSecret',
  tag: 'Vault',
  summary: 'Store a secret of an intern, or replace it',
  params: secretPath,
  query: NOTHING,
  body: putSecretBody,
  responses: { 200: { description: 'As it is stored.', schema: z.strictObject({ data: vaultSecretSchema }) } },
  errors: [400, 403, 404, 409, 413, 502, 503],
  async handle({ params, body, ...context }) {
    const scope = scopeOf(await writable(context, params.internId));
    if (body.external !== undefined) requireOperator(context.principal);
    const stored = await context.services.vault.put(scope, params.name, body);
    return { status: 200, body: { data: serializeVaultSecret(stored) }, subject: subjectOf(scope, params.name) };
  },
});

export const deleteInternSecret = defineRoute({
  method: 'DELETE',
  path: '/vault/interns/{internId}/secrets/{name}',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'deleteInternSecret',
  tag: 'Vault',
  summary: 'Delete a secret of an intern',
  params: secretPath,
  query: NOTHING,
  body: NO_BODY,
  responses: { 204: { description: 'It is gone.', schema: NO_CONTENT } },
  errors: [400, 403, 404, 502, 503],
  async handle({ params, ...context }) {
    const scope = scopeOf(await writable(context, params.internId));
    await context.services.vault.delete(scope, params.name, true);
    return { status: 204, body: '', subject: subjectOf(scope, params.name) };
  },
});

export const copyInternSecrets = defineRoute({
  method: 'POST',
  path: '/vault/interns/{internId}/secrets/copy',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'copyInternSecrets',
  tag: 'Vault',
  summary: 'Copy secrets of the workspace to an intern: all that are named, or none',
  params: internPath,
  query: NOTHING,
  body: z
    .strictObject({
      names: z
        .array(z.string())
        .min(1)
        .max(NAMES_MAX)
        .refine((names) => new Set(names).size === names.length, 'has a name twice'),
    })
    .meta({ id: 'CopyInternSecretsRequest' }),
  responses: { 200: { description: 'The copies.', schema: z.strictObject({ data: z.array(vaultSecretSchema) }) } },
  errors: [400, 403, 404, 409, 502, 503],
  async handle({ params, body: { names }, ...context }) {
    const row = await writable(context, params.internId);
    const scope = scopeOf(row);
    const copies = await context.services.vault.copy({ kind: 'workspace', id: row.workspaceId }, scope, names);
    return {
      status: 200,
      body: { data: copies.map(serializeVaultSecret) },
      subject: subjectOf(scope, names.join(',')),
    };
  },
});

export const listEffectiveSecrets = defineRoute({
  method: 'GET',
  path: '/vault/interns/{internId}/effective',
  scope: 'any',
  role: 'member',
  operationId: 'listEffectiveInternSecrets',
  tag: 'Vault',
  summary:
    'List the secrets that hold for an intern: its own, then those of an attached vault, then those of the workspace',
  params: internPath,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'One entry a name.',
      schema: z.strictObject({
        data: z.array(vaultSecretSchema.extend({ scope: z.enum(['intern', 'attached', 'workspace']) })),
      }),
    },
  },
  errors: [404],
  async handle({ params, ...context }) {
    const { interns, caller } = internsOf(context);
    const { id, workspaceId, settings } = await interns.get(caller, params.internId);
    const owner = { id, workspaceId, attachedId: settings.attached_vault_id };
    const found = await effectiveSecrets(context.services.vault, owner, (internId) =>
      interns.isIn(workspaceId, internId),
    );
    return {
      status: 200,
      body: { data: found.map(({ secret, scope }) => ({ ...serializeVaultSecret(secret), scope })) },
    };
  },
});
