import { z } from 'zod';
import { defineRoute, NO_BODY } from '../route.ts';
import { auditIssued } from './audit-issued.ts';
import { keyPathSchema } from './key-shape.ts';
import { touchKey } from './touch-key.ts';

export const deleteKey = defineRoute({
  method: 'DELETE',
  path: '/keys/{hash}',
  scope: 'management',
  operationId: 'deleteKey',
  tag: 'API keys',
  summary: 'Delete a key for good; it stops working at once',
  params: keyPathSchema,
  query: z.strictObject({
    cascade: z
      .enum(['true', 'false'])
      .optional()
      .describe('Whether the keys that it issued, directly or not, are deleted too. Default false.'),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: 'The key is gone.',
      schema: z.strictObject({
        deleted: z.literal(true),
        cascaded: z.int().optional().describe('With `cascade`: how many keys that it issued were deleted too.'),
      }),
    },
  },
  errors: [400, 404],
  users: ({ params, services }) => touchKey(services, params.hash),
  async handle({ principal, params, query, services }) {
    if (query.cascade !== 'true') {
      await services.keys.delete(params.hash, 'normal');
      return { status: 200, body: { deleted: true } };
    }
    const { issued } = await services.keys.deleteWithIssued(params.hash, 'normal');
    await auditIssued(services.audit, principal, 'deleteKey', params.hash, issued);
    return { status: 200, body: { deleted: true, cascaded: issued.length } };
  },
});
