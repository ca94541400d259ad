import type { Touched } from '../../../accounts/people/viewer.ts';
import type { ManagementServices } from '../route.ts';

/**
 * A key belongs to its workspace, and to the user that it is for.
 * @param mayOwner whether the owner may do this too
 * @throws GatewayError 404
 */
export async function touchKey(
  { keys }: Pick<ManagementServices, 'keys'>,
  hash: string,
  mayOwner = true,
): Promise<Touched> {
  const { workspaceId, creatorUserId } = await keys.get(hash, 'normal');
  return { workspaceId, ...(mayOwner && { ownerId: creatorUserId }) };
}
