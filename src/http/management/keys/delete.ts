import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { keyPathSchema } from './key-shape.ts';

export const deleteKey = defineRoute({
  method: 'DELETE',
  path: '/keys/{hash}',
  scope: 'management',
  operationId: 'deleteKey',
  tag: 'API keys',
  summary: 'Delete a key for good; it stops working at once',
  params: keyPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The key is gone.', schema: z.strictObject({ deleted: z.literal(true) }) } },
  errors: [404],
  async handle({ params, services }) {
    await services.keys.delete(params.hash, 'normal');
    return { status: 200, body: { deleted: true } };
  },
});
