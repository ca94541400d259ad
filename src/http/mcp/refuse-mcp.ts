import type { FastifyInstance } from 'fastify';
import { GatewayError } from '../../canonical/gateway-error.ts';

/** Below the root and below the version segment; the other base path is rewritten. */
export const MCP_PATHS = ['/mcp', '/v1/mcp'] as const;

export type MountMcp = (fastify: FastifyInstance) => void;

/** The gateway is no MCP server, and says what makes it one. */
export const refuseMcp: MountMcp = (fastify) => {
  for (const url of MCP_PATHS)
    fastify.all(url, () => {
      throw new GatewayError(
        'not_found',
        'The gateway is no MCP server. "mcp_server: { enabled: true }" in the configuration makes it one.',
      );
    });
};
