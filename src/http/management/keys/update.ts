import { z } from 'zod';
import { invalid } from '../../../canonical/gateway-error.ts';
import { keyResource } from '../../../resources/keys.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { auditIssued } from './audit-issued.ts';
import { touchKey } from './touch-key.ts';
import { serializeKey, keyPathSchema, keySchema } from './key-shape.ts';

// The order of the public documentation.
const { name, disabled, ...settings } = keyResource.updateShape;
const bodySchema = z
  .strictObject({
    name,
    disabled,
    cascade: z
      .boolean()
      .optional()
      .describe(
        'With `disabled: true`: whether the keys that it issued, directly or not, are disabled too. Default false.',
      ),
    ...settings,
  })
  .meta({ id: 'UpdateKeyRequest' });

export const updateKey = defineRoute({
  method: 'PATCH',
  path: '/keys/{hash}',
  scope: 'management',
  readsRecords: true,
  operationId: 'updateKey',
  tag: 'API keys',
  summary: 'Change a key; fields that are left out stay as they are',
  audited: 'values',
  params: keyPathSchema,
  query: NOTHING,
  body: bodySchema,
  responses: { 200: { description: 'The key after the change.', schema: z.strictObject({ data: keySchema }) } },
  errors: [400, 404, 413],
  users: ({ params, body, services }) => touchKey(services, params.hash, mayOwner(body)),
  async handle({ principal, params, body, services }) {
    if (body.cascade === true && body.disabled !== true) throw invalid('cascade', 'needs "disabled": true');
    const record = await services.keys.update(params.hash, keyResource.parsePatch(body, services), 'normal');
    if (body.cascade === true) {
      const { issued } = await services.keys.disableWithIssued(params.hash, 'normal');
      await auditIssued(services.audit, principal, 'updateKey', params.hash, issued);
    }
    return { status: 200, body: { data: serializeKey(record) } };
  },
});

/** What its owner may change: limits, and whether a disabled key works again, are for admins. */
function mayOwner(body: z.output<typeof bodySchema>): boolean {
  return body.disabled !== false && Object.keys(body).every((member) => OF_OWNERS.has(member));
}

const OF_OWNERS: ReadonlySet<string> = new Set(['name', 'disabled', 'cascade']);
