import { z } from 'zod';
import { defineRoute, NOTHING } from '../route.ts';
import {
  byokKeySchema,
  credentialSchema,
  drawByokKey,
  providerSchema,
  readSettings,
  settingsShape,
} from './byok-shape.ts';

const bodySchema = z
  .strictObject({
    provider: providerSchema,
    key: credentialSchema,
    workspace_id: z.uuid().nullable().optional().describe('Null: every workspace. Absent: the default one.'),
    ...settingsShape,
  })
  .meta({ id: 'CreateByokKeyRequest' });

export const createByokKey = defineRoute({
  method: 'POST',
  path: '/byok',
  scope: 'management',
  operationId: 'createByokKey',
  tag: 'BYOK',
  summary: "Bring a credential of the account's own to a provider",
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: {
    201: { description: 'The credential, masked.', schema: z.strictObject({ data: byokKeySchema }) },
  },
  errors: [400, 413],
  async handle({ body, services }) {
    const { provider, key, workspace_id: workspaceId, ...settings } = body;
    const record = await services.byok.create({ provider, key, workspaceId, ...readSettings(settings) });
    return { status: 201, body: { data: drawByokKey(record) } };
  },
});
