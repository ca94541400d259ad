import { z } from 'zod';
import type { Principal } from '../../accounts/principal.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import type { ManagementServices, RouteContext } from './route.ts';

/** Which workspace is meant, where a management key asks. */
export const ownerShape = {
  workspace_id: z.uuid().optional().describe('For management keys. Default: the default workspace.'),
};

type Asking = Pick<RouteContext<unknown, unknown, unknown>, 'principal'> & {
  readonly services: Pick<ManagementServices, 'workspaces'>;
};

/**
 * Whose presets or files are meant: those of the workspace of the key, or of any for a management key.
 * @throws GatewayError 400 for a workspace that is not there: nothing is kept where nobody could find it; 404 for another
 * workspace than a normal key's own: what is there is not its business
 */
export async function ownerOf(
  { workspace_id: named }: { readonly workspace_id?: string | undefined },
  { principal, services }: Asking,
): Promise<Principal> {
  assert(principal !== undefined, 'what a workspace owns is not public');
  if (principal.kind === 'management') return { ...principal, workspaceId: await services.workspaces.idOf(named) };
  if (named === undefined || named === principal.workspaceId) return principal;
  throw new GatewayError('not_found', 'There is no such workspace.');
}
