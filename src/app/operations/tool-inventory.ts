import { GatewayError, type ErrorType } from '../../canonical/gateway-error.ts';
import { McpError } from '../../canonical/tools/mcp.ts';
import type { ListedMcpServer, ToolInventory } from '../../http/management/operations/services.ts';
import type { Clock } from '../../lib/clock.ts';
import type { McpGateway, McpInventory } from '../../mcp/servers.ts';
import type { Plugin } from '../../plugins/contract.ts';
import { PLUGINS } from '../../plugins/index.ts';
import type { RegisteredTool } from '../../tools/contract.ts';

export interface ToolInventoryDeps {
  readonly mcp: Pick<McpGateway, 'inventory' | 'callTool'>;
  /** By their type. */
  readonly serverTools: ReadonlyMap<string, RegisteredTool>;
  readonly clock: Clock;
}

/** A server that hangs is shown without its tools. */
const LIST_MS_MAX = 5_000;
const CALL_MS_MAX = 60_000;

const ERROR_TYPES: Readonly<Partial<Record<McpError['code'], ErrorType>>> = { invalid_tool_input: 'invalid_request' };

export function createToolInventory({ mcp, serverTools, clock }: ToolInventoryDeps): ToolInventory {
  const plugins: readonly Plugin[] = Object.values(PLUGINS);
  return {
    plugins: () => plugins,
    serverTools: () =>
      [...serverTools.values()].map(({ type, summary, parameters }) => ({ id: type, summary, options: parameters })),
    async mcpServers() {
      return (await mcp.inventory(AbortSignal.timeout(LIST_MS_MAX))).map(listed);
    },
    async callMcpTool({ server, tool, input }) {
      const beganMs = clock.monotonicMs();
      try {
        const result = await mcp.callTool(server, tool, input, AbortSignal.timeout(CALL_MS_MAX));
        return {
          content: result.content,
          structured: result.structured ?? null,
          hasFailed: result.failed,
          durationMs: clock.monotonicMs() - beganMs,
        };
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        throw new GatewayError(ERROR_TYPES[error.code] ?? 'provider_unavailable', error.message, { cause: error });
      }
    },
  };
}

function listed({ settings, tools, trouble }: McpInventory): ListedMcpServer {
  const { name, transport, workspaces, keys } = settings;
  return {
    name,
    transport,
    tools: tools ?? null,
    trouble: trouble ?? null,
    workspaces: workspaces ?? null,
    keys: keys ?? null,
  };
}
