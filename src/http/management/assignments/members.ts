import { z } from 'zod';
import { assert } from '../../../lib/assert.ts';
import { guardrailPathSchema } from '../guardrails/guardrail-shape.ts';
import { defineRoute, NOTHING } from '../route.ts';
import { memberIdsShape } from './assignment-shape.ts';

export const assignMembers = defineRoute({
  method: 'POST',
  path: '/guardrails/{id}/assignments/members',
  scope: 'management',
  operationId: 'assignMembersToGuardrail',
  tag: 'Guardrails',
  summary: 'Give members, and all keys made for them, this guardrail, in place of the one that they have',
  audited: 'values',
  params: guardrailPathSchema,
  query: NOTHING,
  body: z.strictObject(memberIdsShape).meta({ id: 'BulkAssignMembersRequest' }),
  responses: {
    200: { description: 'How many members have it now.', schema: z.strictObject({ assigned_count: z.int() }) },
  },
  errors: [400, 404, 413],
  async handle({ principal, params, body, services }) {
    assert(principal !== undefined, 'only a key gets here');
    const count = await services.assignments.assign('member', params.id, body.member_user_ids, principal.keyHash);
    return { status: 200, body: { assigned_count: count } };
  },
});

export const unassignMembers = defineRoute({
  method: 'POST',
  path: '/guardrails/{id}/assignments/members/remove',
  scope: 'management',
  operationId: 'unassignMembersFromGuardrail',
  tag: 'Guardrails',
  summary: 'Take this guardrail from members',
  audited: 'values',
  params: guardrailPathSchema,
  query: NOTHING,
  body: z.strictObject(memberIdsShape).meta({ id: 'BulkUnassignMembersRequest' }),
  responses: { 200: { description: 'How many had it.', schema: z.strictObject({ unassigned_count: z.int() }) } },
  errors: [400, 404, 413],
  async handle({ params, body, services }) {
    const count = await services.assignments.unassign('member', params.id, body.member_user_ids);
    return { status: 200, body: { unassigned_count: count } };
  },
});
