import { defineGet } from '../resource-routes.ts';
import { touchKey } from './touch-key.ts';
import { serializeKey, keyPathSchema, keySchema } from './key-shape.ts';

export const getKey = defineGet({
  path: '/keys/{hash}',
  readsRecords: true,
  operationId: 'getKey',
  tag: 'API keys',
  summary: 'One key',
  params: keyPathSchema,
  description: 'The key.',
  schema: keySchema,
  serialize: serializeKey,
  users: ({ params, services }) => touchKey(services, params.hash),
  find: ({ keys }, { hash }) => keys.get(hash, 'normal'),
});
