import { z } from 'zod';
import { byokKeyResource } from '../../../resources/byok-keys.ts';
import { pageShape } from '../page.ts';
import { defineDelete, defineGet, defineList } from '../resource-routes.ts';
import { NOTHING } from '../route.ts';
import { byokKeySchema, byokPathSchema, serializeByokKey } from './byok-shape.ts';

const shown = { schema: byokKeySchema, serialize: serializeByokKey };

export const listByokKeys = defineList({
  path: '/byok',
  operationId: 'listByokKeys',
  tag: 'BYOK',
  summary: "List the account's own credentials, by provider and in the order in which they are used",
  params: NOTHING,
  query: z.strictObject({
    ...pageShape,
    workspace_id: z.uuid().optional().describe('Only credentials of this workspace.'),
    provider: byokKeyResource.createShape.provider.optional(),
  }),
  description: 'A page of credentials, masked.',
  ...shown,
  find: ({ byok }, window, { query: { provider, workspace_id: workspaceId } }) =>
    byok.list({
      ...window,
      ...(provider !== undefined && { provider }),
      ...(workspaceId !== undefined && { workspaceId }),
    }),
});

export const getByokKey = defineGet({
  path: '/byok/{id}',
  operationId: 'getByokKey',
  tag: 'BYOK',
  summary: "One credential of the account's own",
  params: byokPathSchema,
  description: 'The credential, masked.',
  ...shown,
  find: ({ byok }, { id }) => byok.get(id),
});

export const deleteByokKey = defineDelete({
  path: '/byok/{id}',
  operationId: 'deleteByokKey',
  tag: 'BYOK',
  summary: 'Delete a credential; what is secret of it is wiped',
  params: byokPathSchema,
  description: 'It is gone.',
  remove: ({ byok }, { id }) => byok.delete(id),
});
