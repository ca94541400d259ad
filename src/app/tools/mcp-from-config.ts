import { createProxyOf } from '../../lib/net/proxy/proxies.ts';
import { createMcpServers, type McpGateway } from '../../mcp/servers.ts';
import type { SharedDeps } from '../shared-deps.ts';

/** The MCP servers that are switched on. What they write, and what is wrong with them, is in the log. */
export function openMcpServers({
  config,
  env,
  clock,
  log,
  fileMemory,
  vault,
}: Pick<SharedDeps, 'config' | 'env' | 'clock' | 'log' | 'fileMemory'> & {
  /** Absent: no secret is filled in. */
  readonly vault?: Pick<SharedDeps['vault'], 'fill'>;
}): McpGateway {
  return createMcpServers({
    servers: config.mcpServers.filter(({ enabled }) => enabled),
    env,
    memory: fileMemory,
    proxyOf: createProxyOf(config.proxies),
    fill: vault?.fill,
    monotonicMs: () => clock.monotonicMs(),
    log(server, event) {
      if ('line' in event) log.general.info({ mcp_server: server, line: event.line }, 'an MCP server wrote');
      else log.general.warn({ mcp_server: server, reason: event.trouble }, 'an MCP server is in trouble');
    },
  });
}
