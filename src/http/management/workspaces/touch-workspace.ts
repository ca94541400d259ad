import { notYours, type Touched } from '../../../accounts/people/viewer.ts';
import type { ManagementServices } from '../route.ts';

type Services = Pick<ManagementServices, 'workspaces'>;

/** @throws GatewayError 404 */
export async function touchWorkspace(
  { workspaces }: Services,
  idOrSlug: string,
  more: Pick<Touched, 'isForMembers'> = {},
): Promise<Touched> {
  return { workspaceId: (await workspaces.get(idOrSlug)).id, ...more };
}

/** What a call without a workspace means is the default one. @throws GatewayError 400 for an unknown one */
export async function touchNamed({ workspaces }: Services, id: string | undefined): Promise<Touched> {
  return { workspaceId: await workspaces.idOf(id) };
}

/** What belongs to a workspace; what belongs to all or none is for operators. @throws GatewayError 404 */
export function touchRow({ workspaceId }: { readonly workspaceId: string | null }): Touched {
  if (workspaceId === null) throw notYours();
  return { workspaceId };
}
