import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { byokKeySchema, byokPathSchema, serializeByokKey } from './byok-shape.ts';

export const getByokKey = defineRoute({
  method: 'GET',
  path: '/byok/{id}',
  scope: 'management',
  operationId: 'getByokKey',
  tag: 'BYOK',
  summary: "One credential of the account's own",
  params: byokPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The credential, masked.', schema: z.strictObject({ data: byokKeySchema }) } },
  errors: [404],
  async handle({ params, services }) {
    return { status: 200, body: { data: serializeByokKey(await services.byok.get(params.id)) } };
  },
});
