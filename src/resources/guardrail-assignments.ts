import { z } from 'zod';
import { nullable, text, time } from './columns.ts';
import { defineResource, member, type RowOf } from './resource.ts';

const assignmentMembers = {
  id: member(text, { shown: z.uuid() }),
  guardrail_id: member(text, { shown: z.uuid() }),
  assigned_by: member(nullable(text), { shown: z.string().nullable().describe('The hash of a management key.') }),
  created_at_ms: member(time, { shown: z.iso.datetime() }),
};

/**
 * The guardrail of a key: at most one. Assignments of keys and of members have one table, in which `subject_id` is the
 * key's hash or the user's id. @source `@openrouter/sdk` 1.3.19, `KeyAssignment`
 */
export const keyAssignmentResource = defineResource('KeyAssignment', {
  ...assignmentMembers,
  subject_id: member(text, { as: 'key_hash', shown: z.string() }),
  key_name: z.string(),
  key_label: z.string(),
});

/** The guardrail of a member: at most one. @source `@openrouter/sdk` 1.3.19, `MemberAssignment` */
export const memberAssignmentResource = defineResource('MemberAssignment', {
  ...assignmentMembers,
  subject_id: member(text, { as: 'user_id', shown: z.string() }),
  organization_id: z.string(),
});

export type AssignedKind = 'key' | 'member';
export type AssignmentRow = RowOf<typeof keyAssignmentResource>;
