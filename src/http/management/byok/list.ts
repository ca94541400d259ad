import { z } from 'zod';
import { byokKeyResource } from '../../../resources/byok-keys.ts';
import { serializePage, pageSchema, pageShape, parseWindow } from '../page.ts';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { byokKeySchema, serializeByokKey } from './byok-shape.ts';

export const listByokKeys = defineRoute({
  method: 'GET',
  path: '/byok',
  scope: 'management',
  operationId: 'listByokKeys',
  tag: 'BYOK',
  summary: "List the account's own credentials, by provider and in the order in which they are used",
  params: NOTHING,
  query: z.strictObject({
    ...pageShape,
    workspace_id: z.uuid().optional().describe('Only credentials of this workspace.'),
    provider: byokKeyResource.createShape.provider.optional(),
  }),
  body: NO_BODY,
  responses: { 200: { description: 'A page of credentials, masked.', schema: pageSchema(byokKeySchema) } },
  errors: [400],
  async handle({ query, services }) {
    const { provider, workspace_id: workspaceId } = query;
    const page = await services.byok.list({
      ...parseWindow(query),
      ...(provider !== undefined && { provider }),
      ...(workspaceId !== undefined && { workspaceId }),
    });
    return { status: 200, body: serializePage(page, serializeByokKey) };
  },
});
