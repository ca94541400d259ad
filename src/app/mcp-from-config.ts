import { createMcpServers, type McpGateway } from '../mcp/servers.ts';
import type { SharedDeps } from './shared-deps.ts';

/** The MCP servers that are switched on. What they write, and what is wrong with them, is in the log. */
export function openMcpServers({
  config,
  env,
  clock,
  log,
  fileMemory,
}: Pick<SharedDeps, 'config' | 'env' | 'clock' | 'log' | 'fileMemory'>): McpGateway {
  return createMcpServers({
    servers: config.mcpServers.filter(({ enabled }) => enabled),
    env,
    memory: fileMemory,
    monotonicMs: () => clock.monotonicMs(),
    log(server, event) {
      if ('line' in event) log.general.info({ mcp_server: server, line: event.line }, 'an MCP server wrote');
      else log.general.warn({ mcp_server: server, reason: event.trouble }, 'an MCP server is in trouble');
    },
  });
}
