import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Page, PageWindow } from '../../store/engine/page.ts';
import type { MemberRow } from '../../resources/workspace-parts.ts';
import type { MemberStore } from '../../store/accounts/workspace-members.ts';
import type { Workspaces } from './workspaces.ts';

export type WorkspaceMember = MemberRow;

/** Who belongs to a workspace. All belong to the default one; only those who were added are listed there. */
export interface WorkspaceMembers {
  /** Oldest first. @throws GatewayError 404 when there is no such workspace */
  list(idOrSlug: string, window: PageWindow): Promise<Page<WorkspaceMember>>;
  /** Who is one already stays one. @throws GatewayError 404 when there is no such workspace */
  add(idOrSlug: string, userIds: readonly string[]): Promise<AddedMembers>;
  /**
   * All or none. Gives how many were members.
   * @throws GatewayError 400 when one of them owns keys there that work, 404 when there is no such workspace
   */
  remove(idOrSlug: string, userIds: readonly string[]): Promise<number>;
}

export interface AddedMembers {
  /** All who were named, whether new or not. */
  readonly members: readonly WorkspaceMember[];
  readonly newCount: number;
}

export interface WorkspaceMembersDeps {
  readonly store: MemberStore;
  readonly workspaces: Pick<Workspaces, 'get'>;
  readonly clock: Clock;
}

/** How many of them a message names. */
const OWNERS_SHOWN = 5;

export function createWorkspaceMembers({ store, workspaces, clock }: WorkspaceMembersDeps): WorkspaceMembers {
  return {
    async list(idOrSlug, window) {
      const { id } = await workspaces.get(idOrSlug);
      return store.list(id, window);
    },
    async add(idOrSlug, userIds) {
      const { id: workspaceId } = await workspaces.get(idOrSlug);
      const createdAtMs = clock.nowMs();
      const rows = [...new Set(userIds)].map(
        // Roles are an organization's to give, and there is none.
        (userId): MemberRow => ({ id: randomUUID(), workspaceId, userId, role: 'member', createdAtMs }),
      );
      const newCount = await store.insert(rows);
      return { members: await store.findAmong(workspaceId, userIds), newCount };
    },
    async remove(idOrSlug, userIds) {
      const { id } = await workspaces.get(idOrSlug);
      const owners = await store.ownersOfActiveKeys(id, userIds, clock.nowMs());
      if (owners.length > 0) throw ownKeys(owners);
      return store.remove(id, userIds);
    },
  };
}

function ownKeys(owners: readonly string[]): GatewayError {
  const shown = owners.slice(0, OWNERS_SHOWN).map((owner) => JSON.stringify(owner));
  const more = owners.length - shown.length;
  return new GatewayError(
    'invalid_request',
    `user_ids: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''} still own API keys here that work. Disable or delete those first.`,
  );
}
