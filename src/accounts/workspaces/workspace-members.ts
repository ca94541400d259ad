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
  /** @throws GatewayError 404 for a workspace or a member that there is not */
  setRole(idOrSlug: string, userId: string, role: MemberRow['role']): Promise<WorkspaceMember>;
  /**
   * Removes all or none. Returns how many were members.
   * @throws GatewayError 400 when one of them owns active keys there or is a member by a group, 404 when there is no such workspace
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
  /** The role of new members, as the organization has it. Absent: there is none, and members have no rights. */
  readonly roleOf?: ((userId: string) => Promise<MemberRow['role']>) | undefined;
  readonly clock: Clock;
}

/** How many owners a message lists. */
const OWNERS_SHOWN = 5;

export function createWorkspaceMembers({ store, workspaces, roleOf, clock }: WorkspaceMembersDeps): WorkspaceMembers {
  return {
    async list(idOrSlug, window) {
      const { id } = await workspaces.get(idOrSlug);
      return store.list(id, window);
    },
    async add(idOrSlug, userIds) {
      const { id: workspaceId } = await workspaces.get(idOrSlug);
      const createdAtMs = clock.nowMs();
      const rows = await Promise.all(
        [...new Set(userIds)].map(async (userId): Promise<MemberRow> => {
          const role = roleOf === undefined ? 'member' : await roleOf(userId);
          return { id: randomUUID(), workspaceId, userId, role, createdAtMs };
        }),
      );
      const newCount = await store.insert(rows);
      return { members: await store.findAmong(workspaceId, userIds), newCount };
    },
    async isAdmin(workspaceId, userId) {
      const [found] = await store.findAmong(workspaceId, [userId]);
      return found?.role === 'admin';
    },
    async setRole(idOrSlug, userId, role) {
      const { id } = await workspaces.get(idOrSlug);
      const member = await store.setRole(id, userId, role);
      if (member === undefined) throw new GatewayError('not_found', 'The user is not a member of the workspace.');
      return member;
    },
    async remove(idOrSlug, userIds) {
      const { id } = await workspaces.get(idOrSlug);
      const owners = await store.ownersOfActiveKeys(id, userIds, clock.nowMs());
      if (owners.length > 0) throw ownKeys(owners);
      const [held] = await store.heldByGroups(id, userIds);
      if (held !== undefined)
        throw new GatewayError(
          'invalid_request',
          `user_ids: ${JSON.stringify(held)} is a member by a group of the identity provider. Remove it there, or delete the mapping.`,
        );
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
