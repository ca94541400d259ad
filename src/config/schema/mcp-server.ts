import { z } from 'zod';
import { key, requiredKey } from './key.ts';
import { OFF, optionalSection, section, text } from './parts.ts';

const ORIGINS_MAX = 100;
const CLIENTS_MAX = 100;
const REDIRECT_URIS_MAX = 20;
const NAME_CHARS_MAX = 60;
const TEXT_CHARS_MAX = 200;
const REDIRECT_URI =
  /^(?:https:\/\/[^\s#@/]+|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?)(?:[/?][^\s#]*)?$/;
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
  /** Whether programs get tokens that a person agrees to in the dashboard. */
  readonly oauth: boolean;
  /** Whether programs are named by the address of a document about them. */
  readonly clientDocuments: boolean;
  /** Whether programs may register themselves. */
  readonly registration: boolean;
  /** Whether documents may be in the operator's own network. */
  readonly privateAddresses: boolean;
  readonly clients: readonly { readonly id: string; readonly name: string; readonly redirectUris: readonly string[] }[];
}

const clientShape = {
  client_id: requiredKey(text.max(TEXT_CHARS_MAX), 'By which it names itself.', { example: 'editor' }),
  name: requiredKey(text.max(NAME_CHARS_MAX), 'What people are shown.', { example: 'Editor' }),
  redirect_uris: requiredKey(
    z
      .array(z.string().regex(REDIRECT_URI, 'must be an https address, or http on this machine, without a fragment'))
      .min(1)
      .max(REDIRECT_URIS_MAX),
    'Where codes may go: https, or http on the own machine, where any port is meant.',
    { example: ['http://127.0.0.1/callback'] },
  ),
};

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
    oauth: key(
      z.boolean(),
      'Programs get tokens that a person agrees to in the dashboard; needs TLS, or calls from the machine itself.',
      OFF,
    ),
    client_documents: key(z.boolean(), 'Programs may be named by the https address of a document about them.', {
      default: true,
      example: false,
    }),
    registration: key(z.boolean(), 'Programs may register themselves, under any name (RFC 7591).', OFF),
    private_addresses: key(z.boolean(), "Those documents may be in the operator's own network.", OFF),
    clients: key(z.array(section(clientShape)).max(CLIENTS_MAX), 'Programs that are known from the start.', {
      usual: 'none',
      example: [{ client_id: 'editor', name: 'Editor', redirect_uris: ['http://127.0.0.1/callback'] }],
    }),
  },
  'The gateway as an MCP server: docs/mcp-server.md.',
);

/** The section with its defaults. */
export function ownMcpOf({
  enabled = false,
  tools = [...MCP_TOOLS],
  allowed_origins: origins = [],
  oauth = false,
  client_documents: clientDocuments = true,
  registration = false,
  private_addresses: privateAddresses = false,
  clients = [],
}: z.output<typeof mcpServerSection>): OwnMcpConfig {
  return {
    enabled,
    tools,
    allowedOrigins: origins.map((origin) => origin.toLowerCase()),
    oauth,
    clientDocuments,
    registration,
    privateAddresses,
    clients: clients.map(({ client_id: id, name, redirect_uris: redirectUris }) => ({ id, name, redirectUris })),
  };
}
