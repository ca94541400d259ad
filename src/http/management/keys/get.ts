import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
import { serializeKey, keyPathSchema, keySchema } from './key-shape.ts';

export const getKey = defineRoute({
  method: 'GET',
  path: '/keys/{hash}',
  scope: 'management',
  operationId: 'getKey',
  tag: 'API keys',
  summary: 'One key',
  params: keyPathSchema,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'The key.', schema: z.strictObject({ data: keySchema }) } },
  errors: [404],
  async handle({ params, services }) {
    return { status: 200, body: { data: serializeKey(await services.keys.get(params.hash, 'normal')) } };
  },
});
