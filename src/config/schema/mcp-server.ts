import { z } from 'zod';
import { key } from './key.ts';
import { OFF, optionalSection } from './parts.ts';

const ORIGINS_MAX = 100;
const ORIGIN = /^https?:\/\/[^/?#\s@]+$/;

/** The tools of `/mcp`, in the order in which they are listed. */
export const MCP_TOOLS = [
  'list-models',
  'get-model',
  'list-model-endpoints',
  'list-providers',
  'credits',
  'get-generation',
  'search-docs',
  'send-message',
  'generate-image',
  'send-feedback',
] as const;
export type McpToolName = (typeof MCP_TOOLS)[number];

/** The gateway as an MCP server. */
export interface OwnMcpConfig {
  readonly enabled: boolean;
  readonly tools: readonly McpToolName[];
  /** Pages of these origins may call it, besides those of the gateway itself. */
  readonly allowedOrigins: readonly string[];
}

export const mcpServerSection = optionalSection(
  {
    enabled: key(z.boolean(), 'Serves the gateway as an MCP server at `/mcp`.', OFF),
    tools: key(z.array(z.enum(MCP_TOOLS)).min(1), 'Which tools it has.', {
      usual: 'all of them',
      example: ['list-models', 'send-message'],
    }),
    allowed_origins: key(
      z.array(z.string().regex(ORIGIN, 'must be an origin such as https://app.example')).max(ORIGINS_MAX),
      'Pages of these origins may call it, besides those of the gateway itself.',
      { usual: 'none', example: ['https://app.example'] },
    ),
  },
  'The gateway as an MCP server: docs/mcp-server.md.',
);

/** The section with its defaults. */
export function ownMcpOf({
  enabled = false,
  tools = [...MCP_TOOLS],
  allowed_origins: origins = [],
}: z.output<typeof mcpServerSection>): OwnMcpConfig {
  return { enabled, tools, allowedOrigins: origins.map((origin) => origin.toLowerCase()) };
}
