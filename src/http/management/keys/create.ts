import { z } from 'zod';
import { assert } from '../../../lib/assert.ts';
import { keyResource } from '../../../resources/keys.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { serializeKey, keySchema } from './key-shape.ts';

// The order of the public documentation.
const { name, limit, limit_reset, include_byok_in_limit, ...others } = keyResource.createShape;
const bodySchema = z
  .strictObject({ name, limit, limit_reset, include_byok_in_limit, ...others })
  .meta({ id: 'CreateKeyRequest' });

export const createKey = defineRoute({
  method: 'POST',
  path: '/keys',
  scope: 'management',
  operationId: 'createKey',
  tag: 'API keys',
  summary: 'Create a key for generations; the response is the only one that shows it in full',
  audited: 'values',
  params: NOTHING,
  query: NOTHING,
  body: bodySchema,
  responses: {
    201: {
      description: 'The key, shown this once.',
      schema: z.strictObject({ data: keySchema, key: z.string() }),
    },
  },
  errors: [400, 413],
  async handle({ principal, body, services }) {
    assert(principal !== undefined, 'the route is not public');
    const { record, key } = await services.keys.create({
      ...keyResource.parseNew(body, services),
      issuerKeyHash: principal.keyHash,
      issuerLabel: principal.label,
    });
    return { status: 201, body: { data: serializeKey(record), key } };
  },
});
