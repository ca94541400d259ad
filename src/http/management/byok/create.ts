import { z } from 'zod';
import { byokKeyResource } from '../../../resources/byok-keys.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { byokKeySchema, credentialSchema, serializeByokKey } from './byok-shape.ts';

const { provider, workspace_id, ...settings } = byokKeyResource.createShape;
const bodySchema = z
  .strictObject({ provider, key: credentialSchema, workspace_id, ...settings })
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
    const record = await services.byok.create({ ...byokKeyResource.parseNew(body, services), key: body.key });
    return { status: 201, body: { data: serializeByokKey(record) } };
  },
});
