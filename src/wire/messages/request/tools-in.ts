import type { Settings, Tool, ToolChoice } from '../../../canonical/request.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { MCP_FUNCTION_PREFIX, MCP_TYPE } from '../../../canonical/tools/server-call.ts';
import { unreachable } from '../../../lib/assert.ts';
import { isJsonObject, type JsonObject } from '../../../lib/json.ts';
import { decodeCacheControl } from './content-in.ts';
import { isClientTool, isServiceTool, type WireTool, type WireToolChoice } from './tool-schema.ts';
import { textOf } from '../../json-fields.ts';
import { extraOf } from '../extra.ts';

// `type` is not among them: `custom` and nothing mean the same, and the extra remembers which it was.
const FUNCTION_MEMBERS = new Set(['name', 'description', 'input_schema', 'strict', 'cache_control']);
const SERVICE_MEMBERS = new Set(['type', 'parameters']);
const CHOICE_MEMBERS = new Set(['type', 'name', 'disable_parallel_tool_use']);
const NESTED = { cache_control: new Set(['type', 'ttl']) };
const TOOL_SEARCH = 'service:tool_search';

/** @throws GatewayError 400 when two tools have one name */
export function decodeTools(tools: readonly WireTool[] | null | undefined): readonly Tool[] {
  const names = new Set<string>();
  return (tools ?? []).map((wire, at) => {
    const tool = decodeTool(wire);
    if (tool.type === 'function') {
      if (names.has(tool.name)) throw invalid(`tools[${at}].name`, 'is the name of an earlier tool');
      names.add(tool.name);
    }
    return tool;
  });
}

function decodeTool(tool: WireTool): Tool {
  if (isServiceTool(tool)) {
    const parameters = tool['parameters'];
    return {
      type: 'server',
      name: tool.type ?? '',
      ...(isJsonObject(parameters) && { parameters }),
      ...extraOf(tool, SERVICE_MEMBERS),
    };
  }
  if (!isClientTool(tool)) return { type: 'opaque', format: 'messages', value: tool };
  const description = textOf(tool['description']);
  const parameters = tool['input_schema'];
  const strict = tool['strict'];
  return {
    type: 'function',
    name: textOf(tool['name']) ?? '',
    ...(description !== undefined && { description }),
    ...(isJsonObject(parameters) && { parameters: withType(parameters) }),
    ...(typeof strict === 'boolean' && { strict }),
    ...decodeCacheControl(tool['cache_control']),
    ...extraOf(tool, FUNCTION_MEMBERS, NESTED),
  };
}

/** `object` is this format's default; others demand that it be sent. Unchanged where it is there: the bytes are a cached prefix. */
function withType(parameters: JsonObject): JsonObject {
  return parameters['type'] === undefined ? { type: 'object', ...parameters } : parameters;
}

export interface DecodedChoice {
  readonly settings: Pick<Settings, 'toolChoice' | 'parallelToolCalls'>;
  /** Members of `tool_choice` that nothing here names. */
  readonly extra?: JsonObject;
}

/** @throws GatewayError 400 for a tool that is not offered, and for a forced choice beside tool search */
export function decodeToolChoice(wire: WireToolChoice | null | undefined, tools: readonly Tool[]): DecodedChoice {
  if (wire === undefined || wire === null) return { settings: {} };
  if (wire.type !== 'auto' && wire.type !== 'allowed_tools' && tools.some(isToolSearch))
    throw invalid('tool_choice.type', 'must be "auto" or "allowed_tools" beside a tool search', 'invalid_request');
  const toolChoice = decodeChoice(wire, tools);
  const sequential = 'disable_parallel_tool_use' in wire ? wire.disable_parallel_tool_use : undefined;
  const { extra } = wire.type === 'allowed_tools' ? {} : extraOf(wire, CHOICE_MEMBERS);
  return {
    settings: { toolChoice, ...(typeof sequential === 'boolean' && { parallelToolCalls: !sequential }) },
    ...(extra && { extra: extra.fields }),
  };
}

function decodeChoice(wire: WireToolChoice, tools: readonly Tool[]): ToolChoice {
  switch (wire.type) {
    case 'auto':
    case 'none':
      return { type: wire.type };
    case 'any':
      return { type: 'required' };
    case 'tool': {
      // Clients also send a choice without any tools; that is for the upstream to judge.
      if (tools.length > 0 && !tools.some((tool) => nameOf(tool) === wire.name || mayHave(tool, wire.name)))
        throw invalid('tool_choice.name', 'is not the name of a tool in tools');
      return { type: 'function', name: wire.name };
    }
    case 'allowed_tools':
      return { type: 'opaque', format: 'messages', value: wire };
    default:
      return unreachable(wire);
  }
}

/** The functions of an MCP server are known only after it is called. */
function mayHave(tool: Tool, name: string): boolean {
  return tool.type === 'server' && tool.name === MCP_TYPE && name.startsWith(MCP_FUNCTION_PREFIX);
}

function isToolSearch(tool: Tool): boolean {
  return tool.type === 'server' && tool.name === TOOL_SEARCH;
}

function nameOf(tool: Tool): string | undefined {
  return tool.type === 'opaque' ? textOf(tool.value['name']) : tool.name;
}
