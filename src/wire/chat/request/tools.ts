import type { FunctionTool, ServerTool, Tool, ToolChoice } from '../../../canonical/request.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { MCP_FUNCTION_PREFIX, MCP_TYPE } from '../../../canonical/tools/server-call.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import {
  ephemeralBreakpoint,
  keepCacheControlRest,
  nestCacheControlRest,
  encodeCacheControl,
} from './cache-control.ts';
import type { EncodeContext } from './encode-context.ts';
import { asExtra, fieldsOf, nestRest, restOf, withExtra } from '../../extra.ts';
import { nameOf, objectOf, textOf } from '../../json-fields.ts';
import { decodeCustomTool } from './custom-tools.ts';
import {
  functionShape,
  isWebSearchShorthand,
  type ChatFunctionTool,
  type ChatTool,
  type ChatToolChoice,
} from './tool-schema.ts';

const TOOL_MEMBERS: ReadonlySet<string> = new Set(['type', 'function', 'cache_control']);
const FUNCTION_MEMBERS: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict']);
const FLAT_MEMBERS = TOOL_MEMBERS.union(FUNCTION_MEMBERS);
const SERVER_TOOL_MEMBERS: ReadonlySet<string> = new Set(['type', 'parameters']);
const WEB_SEARCH = 'service:web_search';

/**
 * @param pathOf the name of a function in the caller's body
 * @throws GatewayError 400 when two functions have one name
 */
export function decodeTools(
  tools: readonly ChatTool[],
  pathOf = (index: number): string => `tools[${index}].function.name`,
): readonly Tool[] {
  const names = new Set<string>();
  return tools.map((tool, index) => {
    if (tool.type !== 'function' && tool.type !== 'custom') return decodeServerTool(tool);
    const decoded = tool.type === 'custom' ? decodeCustomTool(tool) : decodeFunction(tool);
    if (names.has(decoded.name)) throw invalid(pathOf(index), 'must differ from the names of other functions');
    names.add(decoded.name);
    return decoded;
  });
}

function decodeFunction(tool: ChatFunctionTool): FunctionTool {
  const { function: nested = functionShape.parse(tool) } = tool;
  const { name, description, parameters, strict } = nested;
  const rest =
    tool.function === undefined
      ? restOf(tool, FLAT_MEMBERS)
      : nestRest(restOf(tool, TOOL_MEMBERS), 'function', restOf(nested, FUNCTION_MEMBERS));
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    ...(isJsonObject(parameters) && { parameters }),
    ...(typeof strict === 'boolean' && { strict }),
    ...(tool.cache_control && { cache: ephemeralBreakpoint(tool.cache_control) }),
    ...asExtra('chat', nestCacheControlRest(rest, tool.cache_control)),
  };
}

/** Parameters of a shorthand may stand flat on it; those in `parameters` win. @spec chat-25 */
function decodeServerTool(tool: Exclude<ChatTool, { type: 'function' | 'custom' }>): ServerTool {
  const rest = restOf(tool, SERVER_TOOL_MEMBERS);
  const given = objectOf(tool.parameters);
  if (!isWebSearchShorthand(tool.type))
    return { type: 'server', name: tool.type, ...(given && { parameters: given }), ...asExtra('chat', rest) };
  const parameters = rest === undefined ? given : { ...decodeFilters(rest), ...given };
  return { type: 'server', name: WEB_SEARCH, ...(parameters && { parameters }) };
}

/** Lists of sites as the interface that the shorthand comes from has them. @source `@openrouter/sdk` 1.3.19, `WebSearchDomainFilter` */
function decodeFilters({ filters, ...flat }: JsonObject): JsonObject {
  const { allowed_domains: allowed, excluded_domains: excluded, blocked_domains: blocked } = objectOf(filters) ?? {};
  const left = excluded ?? blocked;
  return {
    ...(isPresent(allowed) && { allowed_domains: allowed }),
    ...(isPresent(left) && { excluded_domains: left }),
    ...flat,
  };
}

function isPresent(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null;
}

/** @throws GatewayError 400 when the function, or the server tool, is not among the tools */
export function decodeToolChoice(choice: ChatToolChoice, tools: readonly Tool[]): ToolChoice {
  if (typeof choice === 'string') return { type: choice };
  if (choice.type === 'function') return chooseNamed(choice, 'function', tools);
  if (choice.type === 'custom') return chooseNamed(choice, 'custom', tools);
  if (choice.type === 'allowed_tools' && isJsonObject(choice)) return { type: 'opaque', format: 'chat', value: choice };
  const type = isWebSearchShorthand(choice.type) ? WEB_SEARCH : choice.type;
  if (!tools.some((tool) => tool.type === 'server' && tool.name === type))
    throw invalid('tool_choice.type', 'must be the type of one of the tools');
  return { type: 'opaque', format: 'chat', value: { type } };
}

/** The name stands in a member of its own or, as the responses format has it, beside the type. */
function chooseNamed(
  choice: Readonly<Record<string, unknown>>,
  member: 'function' | 'custom',
  tools: readonly Tool[],
): ToolChoice {
  const nested = objectOf(choice[member]);
  const name = textOf((nested ?? choice)['name']) ?? '';
  if (tools.some((tool) => mayBeCalled(tool, name))) return { type: 'function', name };
  const path = nested === undefined ? 'tool_choice.name' : `tool_choice.${member}.name`;
  throw invalid(path, 'must be the name of one of the tools');
}

/** The functions of an MCP server are known only after it is called. */
function mayBeCalled(tool: Tool, name: string): boolean {
  if (tool.type === 'server') return tool.name === MCP_TYPE && name.startsWith(MCP_FUNCTION_PREFIX);
  return tool.type === 'function' && tool.name === name;
}

/** Tools that the upstream can be offered; the others are left out with a warning. */
export function encodeTools(tools: readonly Tool[], context: EncodeContext): readonly JsonObject[] {
  return tools.flatMap((tool, index) => {
    if (tool.type === 'function') return [encodeFunction(tool, `tools[${index}]`, context)];
    if (tool.type === 'opaque' && tool.format === 'chat') return [tool.value];
    const what = tool.type === 'server' ? tool.name : nameOf(tool.value['type']);
    context.warn('content-dropped', `tools[${index}]`, `the provider's format has no tool ${what}`);
    return [];
  });
}

function encodeFunction(tool: FunctionTool, path: string, context: EncodeContext): JsonObject {
  const { target } = context;
  const { name, description, parameters, strict } = tool;
  const own: JsonObject = {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && { parameters }),
      ...(strict !== undefined && { strict }),
    },
    // Only this spelling is known on tools. @spec chat-10
    ...(target.dialect.cacheBreakpoints === 'cache_control' && encodeCacheControl(tool.cache, target.dialect)),
  };
  return withExtra(own, keepCacheControlRest(withoutDeferral(tool, path, context), target.dialect));
}

/** No host of this format hides functions: they refuse the member, and the model may as well have the function at once. */
function withoutDeferral(tool: FunctionTool, path: string, context: EncodeContext): JsonObject | undefined {
  const fields = fieldsOf(tool, 'chat');
  if (fields?.['defer_loading'] === undefined) return fields;
  if (fields['defer_loading'] === true)
    context.warn('field-dropped', `${path}.defer_loading`, 'the provider hides no functions: it is offered at once');
  const { defer_loading: _deferred, ...others } = fields;
  return others;
}

/** `undefined`, with a warning, for a choice that names what the upstream is not offered. */
export function encodeToolChoice(
  choice: ToolChoice,
  tools: readonly JsonObject[],
  context: EncodeContext,
): string | JsonObject | undefined {
  if (choice.type === 'opaque') {
    const known = choice.format === 'chat' && choice.value['type'] === 'allowed_tools';
    if (!known) context.warn('field-dropped', 'tool_choice', "the provider's format has no word for this choice");
    return known ? choice.value : undefined;
  }
  if (choice.type !== 'function') return choice.type;
  if (tools.some((tool) => objectOf(tool['function'])?.['name'] === choice.name))
    return { type: 'function', function: { name: choice.name } };
  context.warn('field-dropped', 'tool_choice', 'the tool that it names is not offered to the provider');
  return undefined;
}
