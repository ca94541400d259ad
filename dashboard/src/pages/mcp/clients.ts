import type { ClientName } from './search.ts';

const KEY = '$GATEWAY_API_KEY';

/** How a client is pointed at this server: by OAuth, or with a key of its own. @source docs/mcp-server.md */
export const CLIENT_SETTINGS: Readonly<
  Record<ClientName, { readonly label: string; readonly text: (url: string, hasOauth: boolean) => string }>
> = {
  claude: {
    label: 'Claude Code',
    text: (url, hasOauth) =>
      hasOauth
        ? `claude mcp add --transport http gateway ${url}\n# then /mcp in Claude Code, and "Authenticate"`
        : `claude mcp add --transport http gateway ${url} --header "Authorization: Bearer ${KEY}"`,
  },
  codex: {
    label: 'Codex',
    text: (url, hasOauth) =>
      `# ~/.codex/config.toml\n[mcp_servers.gateway]\nurl = "${url}"\n${hasOauth ? '\n# then: codex mcp login gateway' : 'bearer_token_env_var = "GATEWAY_API_KEY"'}`,
  },
  vscode: {
    label: 'VS Code',
    text: (url, hasOauth) => {
      const server = {
        type: 'http',
        url,
        ...(!hasOauth && { headers: { Authorization: 'Bearer ${input:gateway-key}' } }),
      };
      const input = { id: 'gateway-key', type: 'promptString', description: 'API key of the gateway', password: true };
      return `// .vscode/mcp.json\n${format({ servers: { gateway: server }, ...(!hasOauth && { inputs: [input] }) })}`;
    },
  },
  cursor: {
    label: 'Cursor',
    text: (url, hasOauth) => {
      const headers = { Authorization: 'Bearer ${env:GATEWAY_API_KEY}' };
      return `// .cursor/mcp.json\n${format({ mcpServers: { gateway: { url, ...(!hasOauth && { headers }) } } })}`;
    },
  },
};

function format(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
