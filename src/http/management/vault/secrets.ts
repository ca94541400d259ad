import { z } from 'zod';
import { pageSchema, serializePage } from '../page.ts';
import { defineRoute, NO_BODY, NO_CONTENT, NOTHING } from '../route.ts';
import {
  putSecretBody,
  requireOperator,
  requireWriter,
  scopeShape,
  secretWindow,
  serializeVaultSecret,
  subjectOf,
  vaultPathSchema,
  vaultScopeOf,
  vaultSecretSchema,
  windowOf,
} from './vault-shape.ts';

export const listVaultSecrets = defineRoute({
  method: 'GET',
  path: '/vault/secrets',
  scope: 'any',
  role: 'member',
  operationId: 'listVaultSecrets',
  tag: 'Vault',
  summary: 'List secrets by name, without their values',
  params: NOTHING,
  query: z.strictObject({
    ...scopeShape,
    ...secretWindow,
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'A page of secrets.',
      schema: pageSchema(vaultSecretSchema).extend({ has_more: z.boolean().describe('Whether rows follow.') }),
    },
  },
  errors: [400, 404],
  async handle({ query, ...context }) {
    const window = windowOf(query);
    const page = await context.services.vault.list(await vaultScopeOf(query, context), window);
    const hasMore = window.offset + page.rows.length < page.totalCount;
    return { status: 200, body: { ...serializePage(page, serializeVaultSecret), has_more: hasMore } };
  },
});

export const getVaultSecret = defineRoute({
  method: 'GET',
  path: '/vault/secrets/{name}',
  scope: 'any',
  role: 'member',
  operationId: 'getVaultSecret',
  tag: 'Vault',
  summary: 'Get one secret without its value, and what refers to it',
  params: vaultPathSchema,
  query: z.strictObject(scopeShape),
  body: NO_BODY,
  responses: {
    200: {
      description: 'The secret.',
      schema: z.strictObject({
        data: vaultSecretSchema.extend({
          references: z
            .array(z.string())
            .describe('What names it: members of the configuration, credentials, destinations.'),
        }),
      }),
    },
  },
  errors: [400, 404],
  async handle({ params, query, ...context }) {
    const { vault } = context.services;
    const scope = await vaultScopeOf(query, context);
    const secret = await vault.get(scope, params.name);
    const references = await vault.referencesTo(scope, params.name);
    return { status: 200, body: { data: { ...serializeVaultSecret(secret), references: [...references] } } };
  },
});

export const putVaultSecret = defineRoute({
  method: 'PUT',
  path: '/vault/secrets/{name}',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'putVaultSecret',
  tag: 'Vault',
  summary: 'Store a secret, or replace it',
  params: vaultPathSchema,
  query: z.strictObject(scopeShape),
  body: putSecretBody,
  responses: { 200: { description: 'As it is stored.', schema: z.strictObject({ data: vaultSecretSchema }) } },
  errors: [400, 403, 404, 409, 413, 502, 503],
  async handle({ params, query, body, ...context }) {
    await requireWriter(context.principal, context.services);
    const scope = await vaultScopeOf(query, context);
    if (body.external !== undefined) requireOperator(context.principal);
    const stored = await context.services.vault.put(scope, params.name, body);
    return { status: 200, body: { data: serializeVaultSecret(stored) }, subject: subjectOf(scope, params.name) };
  },
});

export const deleteVaultSecret = defineRoute({
  method: 'DELETE',
  path: '/vault/secrets/{name}',
  scope: 'any',
  role: 'member',
  auditsEveryKey: true,
  operationId: 'deleteVaultSecret',
  tag: 'Vault',
  summary: 'Delete a secret that nothing refers to',
  params: vaultPathSchema,
  query: z.strictObject({
    ...scopeShape,
    force: z.enum(['true', 'false']).optional().describe('`true`: whatever refers to it.'),
  }),
  body: NO_BODY,
  responses: { 204: { description: 'It is gone.', schema: NO_CONTENT } },
  errors: [400, 403, 404, 409, 502, 503],
  async handle({ params, query, ...context }) {
    await requireWriter(context.principal, context.services);
    const scope = await vaultScopeOf(query, context);
    await context.services.vault.delete(scope, params.name, query.force === 'true');
    return { status: 204, body: '', subject: subjectOf(scope, params.name) };
  },
});
