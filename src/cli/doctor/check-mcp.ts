import type { FillSecrets } from '../../canonical/vault-reference.ts';
import type { Config } from '../../config/config.ts';
import { systemClock } from '../../lib/clock.ts';
import { createProxyOf } from '../../lib/net/proxy/proxies.ts';
import { withTimeout } from '../../lib/async/with-timeout.ts';
import { createMcpServers, type McpGateway } from '../../mcp/servers.ts';
import { findCause, LAST_LINES_MAX } from '../../mcp/child-environment.ts';
import { explainForOperator } from '../../mcp/explain-failure.ts';
import type { Io } from '../command.ts';
import type { Finding } from '../../app/check-provider/finding.ts';

/** A server that is fetched before it starts (`npx`) takes its time. */
const LIMIT_MS = 60_000;

/** Connects to each MCP server, lists its tools, and closes the connection. */
export async function checkMcpServers(
  { mcpServers, proxies }: Pick<Config, 'mcpServers' | 'proxies'>,
  env: Io['env'],
  report: (subject: string, finding: Finding) => void,
  fill?: FillSecrets,
): Promise<readonly Finding[]> {
  const linesByServer = new Map<string, string[]>();
  const servers = mcpServers.filter(({ enabled }) => enabled);
  if (servers.length === 0) return [];
  const mcp = createMcpServers({
    servers,
    env,
    fill,
    proxyOf: createProxyOf(proxies),
    monotonicMs: () => systemClock.monotonicMs(),
    // Among its last words is mostly why it ended.
    log: (server, event) => 'line' in event && keepLine(linesByServer, server, event.line),
  });
  try {
    return await Promise.all(
      servers.map(async ({ name }) => {
        const finding = await checkServer(mcp, name, () => findCause(linesByServer.get(name) ?? []));
        report(`mcp ${name}`, finding);
        return finding;
      }),
    );
  } finally {
    await mcp.close();
  }
}

function keepLine(linesByServer: Map<string, string[]>, server: string, line: string): void {
  const lines = linesByServer.get(server) ?? [];
  lines.push(line);
  linesByServer.set(server, lines.slice(-LAST_LINES_MAX));
}

async function checkServer(mcp: McpGateway, name: string, lastWords: () => string | undefined): Promise<Finding> {
  try {
    const {
      title = 'A server that does not say its name',
      tools,
      offered,
    } = await withTimeout(mcp.check(name), LIMIT_MS);
    const count = `${title} answers; ${tools} ${tools === 1 ? 'tool' : 'tools'}`;
    if (offered === 0) return { verdict: 'warning', message: `${count}, of which none is offered.` };
    return { verdict: 'ok', message: offered === tools ? `${count}.` : `${count}, of which ${offered} are offered.` };
  } catch (error) {
    const words = lastWords();
    const cause = explainForOperator(error instanceof Error && error.cause !== undefined ? error.cause : error);
    return { verdict: 'failed', message: `${cause}${words === undefined ? '' : ` Its last words: ${words}`}` };
  }
}
