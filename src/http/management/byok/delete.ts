import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { byokPathSchema } from './byok-shape.ts';

export const deleteByokKey = defineRoute({
  method: 'DELETE',
  path: '/byok/{id}',
  scope: 'management',
  operationId: 'deleteByokKey',
  tag: 'BYOK',
  summary: 'Delete a credential; what is secret of it is wiped',
  params: byokPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'It is gone.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [404],
  async handle({ params, services }) {
    await services.byok.delete(params.id);
    return { status: 200, body: { deleted: true } };
  },
});
