import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Page, PageWindow } from '../../store/engine/page.ts';
import type { MemberRow } from '../../resources/workspace-parts.ts';
import type { MemberStore } from '../../store/accounts/workspace-members.ts';
import type { Workspaces } from './workspaces.ts';

export type WorkspaceMember = MemberRow;

/** The members of workspaces. All users are in the default workspace; its list holds only those that were added. */
export interface WorkspaceMembers {
  /** Lists the oldest first. @throws GatewayError 404 when there is no such workspace */
  list(idOrSlug: string, window: PageWindow): Promise<Page<WorkspaceMember>>;
  /** Adds members and leaves existing ones as they are. @throws GatewayError 404 when there is no such workspace */
  add(idOrSlug: string, userIds: readonly string[]): Promise<AddedMembers>;
  /** Whether a user is an admin of a workspace, by its id. */
  isAdmin(workspaceId: string, userId: string): Promise<boolean>;
  /**
   * Removes all or none. Returns how many were members.
   * @throws GatewayError 400 when one of them owns active keys there, 404 when there is no such workspace
   */
  remove(idOrSlug: string, userIds: readonly string[]): Promise<number>;
}

export interface AddedMembers {
  /** All named users, new or not. */
  readonly members: readonly WorkspaceMember[];
  readonly newCount: number;
}

export interface WorkspaceMembersDeps {
  readonly store: MemberStore;
  readonly workspaces: Pick<Workspaces, 'get'>;
  readonly clock: Clock;
}

/** How many owners a message lists. */
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
        // Only an organization can give roles, and there is none.
        (userId): MemberRow => ({ id: randomUUID(), workspaceId, userId, role: 'member', createdAtMs }),
      );
      const newCount = await store.insert(rows);
      return { members: await store.findAmong(workspaceId, userIds), newCount };
    },
    async isAdmin(workspaceId, userId) {
      const [found] = await store.findAmong(workspaceId, [userId]);
      return found?.role === 'admin';
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
