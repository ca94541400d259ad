import { z } from 'zod';
import { GatewayError, invalid } from '../../canonical/gateway-error.ts';
import { McpError, type McpServer, type McpTool } from '../../canonical/tools/mcp.ts';
import { MCP_TYPE } from '../../canonical/tools/server-call.ts';
import {
  failedOutcome,
  type ForeignArguments,
  type NamedTool,
  type ServerTool,
  type ToolOutcome,
  type ToolSet,
} from '../contract.ts';
import { formatResult } from './format-result.ts';
import { mcpFunctionName, mcpPlaceholderName } from '../../canonical/tools/mcp-function-name.ts';

const SERVER_CHARS_MAX = 64;
const NAME_CHARS_MAX = 128;
const ALLOWED_MAX = 256;

const SUMMARY = 'Offers the tools of an MCP server.';

const parameters = z.strictObject({
  server: z.string().min(1).max(SERVER_CHARS_MAX),
  allowed_tools: z.array(z.string().min(1).max(NAME_CHARS_MAX)).max(ALLOWED_MAX).nullish(),
});

const NO_ARGUMENTS = { type: 'object', properties: {} };

/** The tools of a server of the Model Context Protocol that the operator has set up. Not in the reference; docs/mcp.md. */
export const mcp: ToolSet<typeof parameters> = {
  type: MCP_TYPE,
  summary: SUMMARY,
  parameters,
  checkTogether(entries) {
    const seen = new Set<string>();
    for (const { path, parameters: given } of entries) {
      if (seen.has(given.server)) throw invalid(`${path}.server`, 'is the server of an earlier tool');
      seen.add(given.server);
    }
  },
  async list({ server, allowed_tools: allowed }, { path, principal, abilities, signal }) {
    const found = abilities.mcp?.find(server, principal) ?? 'unknown';
    if (found === 'unknown') throw invalid(`${path}.server`, 'is not the name of an MCP server of this gateway');
    if (found === 'forbidden')
      throw new GatewayError('permission_denied', `${path}.server: this API key may not use the server.`);
    try {
      const listed = await found.tools(signal);
      const names = new Set(listed.map(({ name }) => name));
      const missing = [...(allowed ?? []).entries()].filter(([, name]) => !names.has(name));
      return {
        tools: unlike(
          listed
            .filter(({ name }) => allowed?.includes(name) !== false)
            .map((tool) => ({ name: mcpFunctionName(server, tool.name), tool: toolOf(found, tool) })),
        ),
        warnings: missing.map(([at]) => ({
          code: 'content-dropped' as const,
          path: `${path}.allowed_tools[${at}]`,
          message: 'is no tool that the server offers',
        })),
      };
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      return {
        tools: [{ name: mcpPlaceholderName(server), tool: placeholderOf(found, error) }],
        warnings: [{ code: 'content-dropped', path: `${path}.server`, message: error.message }],
      };
    }
  },
};

/** If two tools have the same name, the first keeps it. */
function unlike(tools: readonly NamedTool[]): readonly NamedTool[] {
  return [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].toReversed();
}

type ForeignTool = ServerTool<typeof parameters, ForeignArguments>;

function toolOf(server: McpServer, { name, description, inputSchema }: McpTool): ForeignTool {
  return {
    type: MCP_TYPE,
    summary: SUMMARY,
    parameters,
    callMsMax: server.callMsMax,
    mcp: { server: server.name, tool: name },
    describe: () => ({ description, arguments: { jsonSchema: inputSchema } }),
    open: () => ({
      async run({ input, traceHeaders, signal }): Promise<ToolOutcome> {
        try {
          return formatResult(await server.call(name, input, signal, traceHeaders));
        } catch (error) {
          if (error instanceof McpError) return failedOutcome(error.message, error.code);
          throw error;
        }
      },
    }),
  };
}

/** The tools of the server are unknown. The function's result gives the reason. */
function placeholderOf(server: McpServer, { message, code }: McpError): ForeignTool {
  return {
    type: MCP_TYPE,
    summary: SUMMARY,
    parameters,
    mcp: { server: server.name, failure: message },
    describe: () => ({
      description: `Stands for the tools of the MCP server "${server.name}", which are not available now. Tells why.`,
      arguments: { jsonSchema: NO_ARGUMENTS },
    }),
    open: () => ({ run: () => Promise.resolve(failedOutcome(message, code)) }),
  };
}
