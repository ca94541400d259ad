import { invalid } from '../../../canonical/gateway-error.ts';
import type { FunctionTool, Tool, ToolChoice } from '../../../canonical/request.ts';
import { MCP_FUNCTION_PREFIX, MCP_TYPE } from '../../../canonical/tools/server-call.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { objectOf, textOf } from '../../json-fields.ts';
import { isNamelessKind } from '../caller-tools.ts';
import { isAbsent } from './read-fields.ts';
import { isWebSearch, WEB_SEARCH } from './server-tools-in.ts';
import type { DecodedTools } from './tools-in.ts';

const MODES: ReadonlySet<unknown> = new Set(['none', 'auto', 'required']);
const LISTED_MODES: ReadonlySet<unknown> = new Set(['auto', 'required']);
const NOT_THERE = 'is not the name of a tool in tools';

/**
 * `undefined` where the caller leaves it open.
 * @throws GatewayError 400 for a choice that names a tool which is not there
 */
export function decodeToolChoice(given: Json | undefined, decoded: DecodedTools): ToolChoice | undefined {
  if (isAbsent(given)) return undefined;
  if (given === 'none' || given === 'auto' || given === 'required') return { type: given };
  if (!isJsonObject(given))
    throw invalid('tool_choice', 'must be "none", "auto", "required", or an object with a type');
  if (MODES.has(given['mode']) && isAbsent(given['type'])) return decodeToolChoice(given['mode'], decoded);
  return decodeNamed(given, decoded);
}

function decodeNamed(choice: JsonObject, decoded: DecodedTools): ToolChoice {
  const type = textOf(choice['type']) ?? '';
  switch (type) {
    case 'none':
    case 'auto':
    case 'required':
      return { type };
    // The spelling of the messages format.
    case 'any':
      return { type: 'required' };
    case 'function':
    case 'custom':
    case 'tool':
      return { type: 'function', name: readName(choice, 'tool_choice', decoded) };
    case 'allowed_tools':
      return decodeAllowed(choice, decoded);
    default:
      return decodeKind(type, choice, decoded);
  }
}

/** The name of a declared tool, as it is where there are no namespaces. @throws GatewayError 400 */
function readName(choice: JsonObject, path: string, { tools, names }: DecodedTools): string {
  const nested = objectOf(choice['function']);
  const given = nested ?? choice;
  const at = nested === undefined ? `${path}.name` : `${path}.function.name`;
  const name = textOf(given['name']);
  if (name === undefined) throw invalid(at, 'must be the name of a tool');
  const resolved = names.resolve(textOf(given['namespace']), name).name;
  if (tools.some((tool) => mayBeCalled(tool, resolved))) return resolved;
  const ofNamespaces = tools.filter((tool): tool is FunctionTool => isNamed(tool, name));
  const [only, ...others] = ofNamespaces;
  if (only !== undefined && others.length === 0 && isAbsent(given['namespace'])) return only.name;
  throw invalid(at, NOT_THERE);
}

function isNamed(tool: Tool, name: string): boolean {
  return tool.type === 'function' && tool.namespaced?.name === name;
}

/** The functions of an MCP server are known only after it is called. */
function mayBeCalled(tool: Tool, name: string): boolean {
  if (tool.type === 'server') return tool.name === MCP_TYPE && name.startsWith(MCP_FUNCTION_PREFIX);
  return tool.type === 'function' && tool.name === name;
}

/** A tool that has a type and no name. */
function decodeKind(type: string, choice: JsonObject, { tools }: DecodedTools): ToolChoice {
  const isFunctions = (tool: Tool): boolean => tool.type === 'function' && tool.kind === type && tool.name === type;
  if (isNamelessKind(type) && tools.some(isFunctions)) return { type: 'function', name: type };
  const server = isWebSearch(type) ? WEB_SEARCH : type;
  if (type === 'mcp' && tools.some((tool) => tool.type === 'server' && tool.name === MCP_TYPE))
    return { type: 'required' };
  // As callers of chat choose it: the gateway puts a function in the place of the tool, and of the choice.
  if (tools.some((tool) => tool.type === 'server' && tool.name === server))
    return { type: 'opaque', format: 'chat', value: { type: server } };
  if (tools.some((tool) => isOpaque(tool, type, choice))) return { type: 'opaque', format: 'responses', value: choice };
  throw invalid('tool_choice', 'must be the type of one of the tools');
}

function isOpaque(tool: Tool, type: string, choice: JsonObject): boolean {
  if (tool.type !== 'opaque' || tool.value['type'] !== type) return false;
  return type !== 'mcp' || tool.value['server_label'] === choice['server_label'];
}

/** The names of functions in it are those that they have where there are no namespaces. */
function decodeAllowed(choice: JsonObject, decoded: DecodedTools): ToolChoice {
  const nested = objectOf(choice['allowed_tools']);
  const { mode, tools: listed } = nested ?? choice;
  const path = nested === undefined ? 'tool_choice' : 'tool_choice.allowed_tools';
  if (!LISTED_MODES.has(mode)) throw invalid(`${path}.mode`, 'must be one of "auto", "required"');
  if (!Array.isArray(listed)) throw invalid(`${path}.tools`, 'must be an array');
  const entries: readonly Json[] = listed;
  const tools = entries.map((entry, at): JsonObject => {
    const entryPath = `${path}.tools[${at}]`;
    if (!isJsonObject(entry)) throw invalid(entryPath, 'must be an object');
    const named = objectOf(entry['function']) ?? entry;
    if (textOf(named['name']) !== undefined && entry['type'] !== 'mcp')
      return { type: 'function', name: readListed(entry, entryPath, decoded) };
    if (decodesKind(entry, decoded)) return entry;
    throw invalid(entryPath, 'is none of the tools');
  });
  return { type: 'opaque', format: 'responses', value: { type: 'allowed_tools', mode, tools } };
}

function readListed(entry: JsonObject, path: string, decoded: DecodedTools): string {
  try {
    return readName(entry, path, decoded);
  } catch {
    throw invalid(path, 'is none of the tools');
  }
}

function decodesKind(entry: JsonObject, { tools }: DecodedTools): boolean {
  const type = textOf(entry['type']) ?? '';
  const server = isWebSearch(type) ? WEB_SEARCH : type;
  return tools.some(
    (tool) =>
      isOpaque(tool, type, entry) ||
      (tool.type === 'server' && tool.name === server) ||
      (tool.type === 'function' && tool.kind === type),
  );
}
