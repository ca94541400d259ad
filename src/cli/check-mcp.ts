import type { Config } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { withinTime } from '../lib/time-limit.ts';
import { createMcpServers, type McpGateway } from '../mcp/servers.ts';
import { explainForOperator } from '../mcp/explain-failure.ts';
import type { Io } from './command.ts';
import type { Finding } from './finding.ts';

/** A server that is fetched before it starts (`npx`) takes its time. */
const LIMIT_MS = 60_000;

/** Connects each MCP server, asks it for its tools, and ends it again. */
export async function checkMcpServers(
  { mcpServers }: Pick<Config, 'mcpServers'>,
  env: Io['env'],
  say: (subject: string, finding: Finding) => void,
): Promise<readonly Finding[]> {
  const said = new Map<string, string>();
  const servers = mcpServers.filter(({ enabled }) => enabled);
  if (servers.length === 0) return [];
  const mcp = createMcpServers({
    servers,
    env,
    monotonicMs: () => systemClock.monotonicMs(),
    // Its last words are mostly why it ended.
    log: (server, event) => 'line' in event && said.set(server, event.line),
  });
  try {
    return await Promise.all(
      servers.map(async ({ name }) => {
        const finding = await checkServer(mcp, name, () => said.get(name));
        say(`mcp ${name}`, finding);
        return finding;
      }),
    );
  } finally {
    await mcp.close();
  }
}

async function checkServer(mcp: McpGateway, name: string, lastWords: () => string | undefined): Promise<Finding> {
  try {
    const {
      title = 'A server that does not say its name',
      tools,
      offered,
    } = await withinTime(mcp.check(name), LIMIT_MS);
    const count = `${title} answers; ${tools} ${tools === 1 ? 'tool' : 'tools'}`;
    if (offered === 0) return { verdict: 'warning', message: `${count}, of which none is offered.` };
    return { verdict: 'ok', message: offered === tools ? `${count}.` : `${count}, of which ${offered} are offered.` };
  } catch (error) {
    const words = lastWords();
    const cause = explainForOperator(error instanceof Error && error.cause !== undefined ? error.cause : error);
    return { verdict: 'failed', message: `${cause}${words === undefined ? '' : ` Its last words: ${words}`}` };
  }
}
