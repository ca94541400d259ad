import { z } from 'zod';
import { memberResource, type MemberRow } from '../../../resources/workspace-parts.ts';

const USER_ID_CHARS_MAX = 256;
const USERS_MAX = 100;

/** @spec workspace-11 */
export const memberIdsShape = {
  user_ids: z.array(z.string().min(1).max(USER_ID_CHARS_MAX)).min(1).max(USERS_MAX),
};

export const { schema: memberSchema } = memberResource;

export function serializeMember(member: MemberRow): z.output<typeof memberSchema> {
  return memberResource.serialize(member, {});
}
