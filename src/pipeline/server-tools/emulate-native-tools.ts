import type { GenerationRequest, Tool } from '../../canonical/request.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { RegisteredTool } from '../../tools/contract.ts';

/**
 * Where no endpoint of the request's models runs its vendor's own tools, those that the gateway has too become the gateway's.
 * @spec messages-19, tool-43: `web_search_20250305`, `tool_search_tool_regex`
 */
export function replaceNativeTools(
  request: GenerationRequest,
  serverTools: ReadonlyMap<string, RegisteredTool>,
  endpointsOf: () => readonly Endpoint[],
): GenerationRequest {
  if (!request.tools.some(isVendors)) return request;
  const isRunThere = endpointsOf().some(({ nativeTools }) => nativeTools === true);
  if (isRunThere) return request;
  const tools = request.tools.map((tool) => replace(tool, serverTools));
  const { toolChoice } = request.settings;
  const forced = toolChoice?.type === 'function' ? request.tools.findIndex(isCalled(toolChoice.name)) : -1;
  const stand = tools[forced];
  if (stand?.type !== 'server') return { ...request, tools };
  return { ...request, tools, settings: { ...request.settings, toolChoice: { type: 'function', name: stand.name } } };
}

function isCalled(name: string): (tool: Tool) => boolean {
  return (tool) => tool.type === 'opaque' && tool.value['name'] === name;
}

function isVendors(tool: Tool): boolean {
  return tool.type === 'opaque' && tool.format === 'messages';
}

function replace(tool: Tool, serverTools: ReadonlyMap<string, RegisteredTool>): Tool {
  if (tool.type !== 'opaque' || tool.format !== 'messages') return tool;
  for (const [name, serverTool] of serverTools) {
    const parameters = serverTool.readNativeTool?.(tool.value);
    if (parameters !== undefined) return { type: 'server', name, parameters };
  }
  return tool;
}
