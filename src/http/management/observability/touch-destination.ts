import type { Touched } from '../../../accounts/people/viewer.ts';
import type { ManagementServices } from '../route.ts';
import { touchRow } from '../workspaces/touch-workspace.ts';

/** @throws GatewayError 404 */
export async function touchDestination(
  { destinations }: Pick<ManagementServices, 'destinations'>,
  id: string,
): Promise<Touched> {
  return touchRow(await destinations.get(id));
}
