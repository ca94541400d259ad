import { z } from 'zod';
import { byokKeyResource } from '../../../resources/byok-keys.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { byokKeySchema, byokPathSchema, credentialSchema, serializeByokKey } from './byok-shape.ts';

/** Provider and workspace cannot change. @spec byok-5 */
const bodySchema = z
  .strictObject({
    key: credentialSchema.optional().describe('Takes the place of the old one.'),
    ...byokKeyResource.updateShape,
  })
  .meta({ id: 'UpdateByokKeyRequest' });

export const updateByokKey = defineRoute({
  method: 'PATCH',
  path: '/byok/{id}',
  scope: 'management',
  operationId: 'updateByokKey',
  tag: 'BYOK',
  summary: 'Change a credential, or replace it; fields that are left out stay as they are, null clears a filter',
  params: byokPathSchema,
  query: NOTHING,
  body: bodySchema,
  responses: { 200: { description: 'After the change.', schema: z.strictObject({ data: byokKeySchema }) } },
  errors: [400, 404, 413],
  async handle({ params, body, services }) {
    const changes = byokKeyResource.parsePatch(body, services);
    const record = await services.byok.update(params.id, { key: body.key, ...changes });
    return { status: 200, body: { data: serializeByokKey(record) } };
  },
});
