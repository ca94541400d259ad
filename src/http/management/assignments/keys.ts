import { z } from 'zod';
import { assert } from '../../../lib/assert.ts';
import { guardrailPathSchema } from '../guardrails/guardrail-shape.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { keyHashesShape } from './assignment-shape.ts';

export const assignKeys = defineRoute({
  method: 'POST',
  path: '/guardrails/{id}/assignments/keys',
  scope: 'management',
  operationId: 'assignKeysToGuardrail',
  tag: 'Guardrails',
  summary: 'Give keys this guardrail, in place of the one that they have',
  audited: 'values',
  params: guardrailPathSchema,
  query: NOTHING,
  body: z.strictObject(keyHashesShape).meta({ id: 'BulkAssignKeysRequest' }),
  responses: {
    200: { description: 'How many keys have it now.', schema: z.strictObject({ assigned_count: z.int() }) },
  },
  errors: [400, 404, 413],
  async handle({ principal, params, body, services }) {
    assert(principal !== undefined, 'only a key gets here');
    const count = await services.assignments.assign('key', params.id, body.key_hashes, principal.keyHash);
    return { status: 200, body: { assigned_count: count } };
  },
});

export const unassignKeys = defineRoute({
  method: 'POST',
  path: '/guardrails/{id}/assignments/keys/remove',
  scope: 'management',
  operationId: 'unassignKeysFromGuardrail',
  tag: 'Guardrails',
  summary: 'Take this guardrail from keys',
  audited: 'values',
  params: guardrailPathSchema,
  query: NOTHING,
  body: z.strictObject(keyHashesShape).meta({ id: 'BulkUnassignKeysRequest' }),
  responses: { 200: { description: 'How many had it.', schema: z.strictObject({ unassigned_count: z.int() }) } },
  errors: [400, 404, 413],
  async handle({ params, body, services }) {
    const count = await services.assignments.unassign('key', params.id, body.key_hashes);
    return { status: 200, body: { unassigned_count: count } };
  },
});
