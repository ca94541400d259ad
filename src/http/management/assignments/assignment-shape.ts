import { z } from 'zod';
import type { GuardrailAssignment, KeyAssignment } from '../../../accounts/policy/guardrail-assignments.ts';
import { DEFAULT_ACCOUNT_ID } from '../../../accounts/principal.ts';
import { serializeTime } from '../../../resources/columns.ts';

const SUBJECTS_MAX = 1_000;
const SUBJECT_CHARS_MAX = 256;

const subjects = z.array(z.string().min(1).max(SUBJECT_CHARS_MAX)).min(1).max(SUBJECTS_MAX);

export const keyHashesShape = { key_hashes: subjects };
export const memberIdsShape = { member_user_ids: subjects };

const assignmentShape = {
  id: z.uuid(),
  guardrail_id: z.uuid(),
  assigned_by: z.string().nullable().describe('The hash of a management key.'),
  created_at: z.iso.datetime(),
};

/** @source `@openrouter/sdk` 1.3.19, `KeyAssignment` */
export const keyAssignmentSchema = z
  .strictObject({ ...assignmentShape, key_hash: z.string(), key_name: z.string(), key_label: z.string() })
  .meta({ id: 'KeyAssignment' });

/** @source `@openrouter/sdk` 1.3.19, `MemberAssignment` */
export const memberAssignmentSchema = z
  .strictObject({ ...assignmentShape, user_id: z.string(), organization_id: z.string() })
  .meta({ id: 'MemberAssignment' });

function serializeAssignment(assignment: GuardrailAssignment) {
  return {
    id: assignment.id,
    guardrail_id: assignment.guardrailId,
    assigned_by: assignment.assignedBy,
    created_at: serializeTime(assignment.createdAtMs),
  };
}

export function serializeKeyAssignment(assignment: KeyAssignment): z.output<typeof keyAssignmentSchema> {
  return {
    ...serializeAssignment(assignment),
    key_hash: assignment.subjectId,
    key_name: assignment.keyName,
    key_label: assignment.keyLabel,
  };
}

export function serializeMemberAssignment(assignment: GuardrailAssignment): z.output<typeof memberAssignmentSchema> {
  return { ...serializeAssignment(assignment), user_id: assignment.subjectId, organization_id: DEFAULT_ACCOUNT_ID };
}
