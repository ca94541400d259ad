import { z } from 'zod';
import type { GuardrailAssignment, KeyAssignment } from '../../../accounts/policy/guardrail-assignments.ts';
import { DEFAULT_ACCOUNT_ID } from '../../../accounts/principal.ts';
import { keyAssignmentResource, memberAssignmentResource } from '../../../resources/guardrail-assignments.ts';

const SUBJECTS_MAX = 1_000;
const SUBJECT_CHARS_MAX = 256;

const subjects = z.array(z.string().min(1).max(SUBJECT_CHARS_MAX)).min(1).max(SUBJECTS_MAX);

export const keyHashesShape = { key_hashes: subjects };
export const memberIdsShape = { member_user_ids: subjects };

export const { schema: keyAssignmentSchema } = keyAssignmentResource;
export const { schema: memberAssignmentSchema } = memberAssignmentResource;

export function serializeKeyAssignment(assignment: KeyAssignment): z.output<typeof keyAssignmentSchema> {
  const { keyName, keyLabel } = assignment;
  return keyAssignmentResource.serialize(assignment, { key_name: keyName, key_label: keyLabel });
}

export function serializeMemberAssignment(assignment: GuardrailAssignment): z.output<typeof memberAssignmentSchema> {
  return memberAssignmentResource.serialize(assignment, { organization_id: DEFAULT_ACCOUNT_ID });
}
