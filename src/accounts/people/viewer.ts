import { hash } from 'node:crypto';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { DEFAULT_ACCOUNT_ID, DEFAULT_WORKSPACE_ID, type Principal } from '../principal.ts';
import type { Membership, UserRow } from './people.ts';

/** A user that is no operator, in a session of the dashboard. */
export interface Viewer {
  readonly userId: string;
  /** Workspaces of the user with its role there. Everyone is a member of the default one. */
  readonly workspaces: ReadonlyMap<string, Membership['role']>;
}

/** What a call touches, by which the rights of a viewer are found. @spec people-9 */
export interface Touched {
  readonly workspaceId: string;
  /** The user whose it is, where its owner may do this too. */
  readonly ownerId?: string | null;
  /** Whether every member of the workspace may do this. */
  readonly isForMembers?: boolean;
}

export function viewerOf({ id }: UserRow, memberships: readonly Membership[]): Viewer {
  const own = memberships.map(({ workspaceId, role }) => [workspaceId, role] as const);
  return { userId: id, workspaces: new Map([[DEFAULT_WORKSPACE_ID, 'member'], ...own]) };
}

export function belongsTo({ workspaces }: Viewer, workspaceId: string): boolean {
  return workspaces.has(workspaceId);
}

export function administers({ workspaces }: Viewer, workspaceId: string): boolean {
  return workspaces.get(workspaceId) === 'admin';
}

export function administeredBy({ workspaces }: Viewer): readonly string[] {
  return [...workspaces].flatMap(([id, role]) => (role === 'admin' ? [id] : []));
}

/** @throws GatewayError 403; 404 for what is of a workspace that the viewer does not belong to */
export function checkRights(viewer: Viewer, { workspaceId, ownerId, isForMembers }: Touched): void {
  if (administers(viewer, workspaceId)) return;
  if (!belongsTo(viewer, workspaceId)) throw notYours();
  if (isForMembers === true || (ownerId !== undefined && ownerId === viewer.userId)) return;
  throw new GatewayError('permission_denied', 'This operation needs an admin of the workspace, or an operator.');
}

/** In the same words for what does not exist, so that nothing is learned about other workspaces. */
export function notYours(): GatewayError {
  return new GatewayError('not_found', 'It does not exist, or belongs to a workspace that you are no member of.');
}

/**
 * A user as the author of changes. The text that the digest is made of has a blank, so that it is that of no key.
 * @param kind `management` for operators alone
 */
export function principalOfUser({ id, email }: Pick<UserRow, 'id' | 'email'>, kind: Principal['kind']): Principal {
  return {
    kind,
    keyHash: userHash(id),
    accountId: DEFAULT_ACCOUNT_ID,
    workspaceId: DEFAULT_WORKSPACE_ID,
    memberId: id,
    name: email,
    label: email,
  };
}

/** Stands for a user where the author of a change is named by the hash of a key. */
export function userHash(id: string): string {
  return hash('sha256', `user ${id}`, 'hex');
}
