import { formatArguments } from '../../tools/contract.ts';
import type { OfferedServer } from '../../wire/format.ts';
import type { OfferedTools } from './offer-server-tools.ts';

/** The MCP servers among the tools of a request, in their order. */
export function listServers({ entries, originalRequest }: OfferedTools): readonly OfferedServer[] {
  const byIndex = Map.groupBy(
    entries.filter(({ tool }) => tool.mcp !== undefined),
    ({ index }) => index,
  );
  return [...byIndex].flatMap(([index, ofServer]) => {
    const entry = originalRequest.tools[index];
    const { server, failure } = ofServer[0]?.tool.mcp ?? {};
    if (entry === undefined || server === undefined) return [];
    const tools = ofServer.flatMap(({ tool, parameters, arguments: schema }) =>
      tool.mcp?.tool === undefined
        ? []
        : {
            name: tool.mcp.tool,
            description: tool.describe(parameters).description,
            inputSchema: formatArguments(schema),
          },
    );
    return { entry, server, tools, ...(failure !== undefined && { failure }) };
  });
}
