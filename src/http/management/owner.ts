import { z } from 'zod';
import type { Principal } from '../../accounts/principal.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import type { ManagementServices, RouteContext } from './route.ts';

/** The workspace that a management key means. */
export const ownerShape = {
  workspace_id: z.uuid().optional().describe('For management keys. Default: the default workspace.'),
};

type OwnerInput = Pick<RouteContext<unknown, unknown, unknown>, 'principal'> & {
  readonly services: Pick<ManagementServices, 'workspaces'>;
};

/**
 * Finds the workspace of presets or files: the key's own, or any for a management key.
 * @throws GatewayError 400 for a workspace that does not exist, in which nothing could be found again; 404 for a
 * workspace other than a normal key's own, whose content is hidden from the key
 */
export async function ownerOf(
  { workspace_id: named }: { readonly workspace_id?: string | undefined },
  { principal, services }: OwnerInput,
): Promise<Principal> {
  assert(principal !== undefined, 'what a workspace owns is not public');
  if (principal.kind === 'management') return { ...principal, workspaceId: await services.workspaces.idOf(named) };
  if (named === undefined || named === principal.workspaceId) return principal;
  throw new GatewayError('not_found', 'There is no such workspace.');
}

/** The key that calls a route that is not public. */
export function callerOf(principal: Principal | undefined): Principal {
  assert(principal !== undefined, 'what a key keeps is not public');
  return principal;
}
