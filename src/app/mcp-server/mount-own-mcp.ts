import type { OauthMountDeps } from '../../http/mcp/mount-oauth.ts';
import type { MountMcp } from '../../http/mcp/refuse-mcp.ts';
import type { ManagementServices } from '../../http/management/route.ts';
import type { Foundation } from '../foundation.ts';
import type { Parts } from '../parts.ts';

/** What mounts `/mcp`. The library of the protocol is loaded where it is on. */
export async function ownMcp(
  foundation: Foundation,
  parts: Parts,
  services: ManagementServices,
  oauth: OauthMountDeps | undefined,
): Promise<MountMcp> {
  if (!foundation.shared.config.mcpServer.enabled) return (await import('../../http/mcp/refuse-mcp.ts')).refuseMcp;
  const [{ mountMcp }, { openMcpServer }] = await Promise.all([
    import('../../http/mcp/mount-mcp.ts'),
    import('./open-mcp-server.ts'),
  ]);
  return (fastify) => mountMcp(fastify, { ...openMcpServer(foundation, parts, services), oauth });
}
