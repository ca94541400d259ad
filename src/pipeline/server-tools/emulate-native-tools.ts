import type { FormatId, Warning } from '../../canonical/extra.ts';
import type { GenerationRequest, OpaqueTool, Tool } from '../../canonical/request.ts';
import type { Endpoint } from '../../catalog/model.ts';
import type { RegisteredTool } from '../../tools/contract.ts';

/** Whether an endpoint runs the tools of a format's vendor. */
const RUNS_TOOLS: ReadonlyMap<FormatId, (endpoint: Endpoint) => boolean> = new Map([
  ['messages', ({ nativeTools }) => nativeTools === true],
  ['responses', ({ openTools }) => openTools === true],
]);

/** The request, and what of it the models do not get. */
export interface ReplacedTools {
  readonly request: GenerationRequest;
  readonly warnings: readonly Warning[];
}

/**
 * Where no endpoint of the request's models runs its vendor's own tools, those that the gateway has too become the gateway's.
 * @spec messages-19, tool-43: `web_search_20250305`, `tool_search_tool_regex`
 */
export function replaceNativeTools(
  request: GenerationRequest,
  serverTools: ReadonlyMap<string, RegisteredTool>,
  endpointsOf: () => readonly Endpoint[],
): ReplacedTools {
  const untouched = { request, warnings: [] };
  const vendors = request.tools.find(isVendors);
  if (vendors === undefined) return untouched;
  const runs = RUNS_TOOLS.get(vendors.format);
  if (runs === undefined || endpointsOf().some(runs)) return untouched;
  const warnings: Warning[] = [];
  const tools = request.tools.map((tool, at) => {
    if (!isVendors(tool) || !isSentByDefault(tool)) return replace(tool, serverTools);
    const message = 'left out: no endpoint of the model makes pictures by itself';
    warnings.push({ code: 'field-dropped', path: `tools[${at}]`, message });
    return undefined;
  });
  const kept = tools.filter((tool) => tool !== undefined);
  const replaced = { request: { ...request, tools: kept }, warnings };
  const { toolChoice } = request.settings;
  const forced = toolChoice === undefined ? -1 : request.tools.findIndex((tool) => isChosen(tool, toolChoice));
  const stand = tools[forced];
  if (stand?.type !== 'server') return replaced;
  const choice = { type: 'opaque', format: 'chat', value: { type: stand.name } } as const;
  const settled = toolChoice?.type === 'function' ? ({ type: 'function', name: stand.name } as const) : choice;
  return { request: { ...replaced.request, settings: { ...request.settings, toolChoice: settled } }, warnings };
}

type Choice = NonNullable<GenerationRequest['settings']['toolChoice']>;

function isChosen(tool: Tool, choice: Choice): boolean {
  if (tool.type !== 'opaque') return false;
  if (choice.type === 'function') return tool.value['name'] === choice.name;
  return choice.type === 'opaque' && choice.format === 'responses' && tool.value['type'] === choice.value['type'];
}

function isVendors(tool: Tool): tool is OpaqueTool {
  return tool.type === 'opaque' && RUNS_TOOLS.has(tool.format);
}

/** A coding client sends this entry with every request, whichever model it talks to. @source Codex CLI, read 2026-11 */
function isSentByDefault({ format, value }: OpaqueTool): boolean {
  const members = Object.keys(value).filter((member) => member !== 'type');
  return format === 'responses' && value['type'] === 'image_generation' && members.join() === 'output_format';
}

function replace(tool: Tool, serverTools: ReadonlyMap<string, RegisteredTool>): Tool {
  if (!isVendors(tool)) return tool;
  for (const [name, serverTool] of serverTools) {
    const parameters = serverTool.readNativeTool?.(tool.value);
    if (parameters === undefined) continue;
    // Callers of the responses format get items of the kind that they named.
    const extra = tool.format === 'responses' ? { extra: { format: tool.format, fields: tool.value } } : {};
    return { type: 'server', name, parameters, ...extra };
  }
  return tool;
}
