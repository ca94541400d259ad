import { z } from 'zod';
import type { WorkspaceMember } from '../../../accounts/workspace-members.ts';
import { drawTime } from '../keys/key-shape.ts';

const USER_ID_CHARS_MAX = 256;
const USERS_MAX = 100;

/** @source areas.md 8 "Members" */
export const memberIdsShape = {
  user_ids: z.array(z.string().min(1).max(USER_ID_CHARS_MAX)).min(1).max(USERS_MAX),
};

/** @source reference shapes, `WorkspaceMember` */
export const memberSchema = z
  .strictObject({
    id: z.uuid(),
    workspace_id: z.uuid(),
    user_id: z.string(),
    role: z.enum(['admin', 'member']),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'WorkspaceMember' });

export function drawMember(member: WorkspaceMember): z.output<typeof memberSchema> {
  return {
    id: member.id,
    workspace_id: member.workspaceId,
    user_id: member.userId,
    role: member.role,
    created_at: drawTime(member.createdAtMs),
  };
}
