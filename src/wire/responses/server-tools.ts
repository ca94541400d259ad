import type { Block } from '../../canonical/blocks.ts';
import { mcpFunctionName } from '../../canonical/tools/mcp-function-name.ts';
import {
  functionNameOf,
  MCP_TYPE,
  type McpToolName,
  type ReplayedServerCall,
  type ServerCall,
} from '../../canonical/tools/server-call.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import { objectsOf, textOf } from '../json-fields.ts';
import { parseToolInputObject } from '../gateway/tool-input.ts';
import { fieldsOf } from '../extra.ts';
import type { OfferedServer, ServerCallCodec } from '../format.ts';

/** A longer result is left out of its item, and what is left is not replayed. Bytes, as UTF-8. */
const RESULT_BYTES_MAX = 256 * 1_024;

/** How a caller names a server as the vendor does, and the items that it gets then. */
export const MCP_ENTRY = 'mcp';
export const MCP_LIST = 'mcp_list_tools';
const MCP_CALL = 'mcp_call';
export const SEARCH_TYPE = 'service:web_search';
export const PICTURE_TYPE = 'service:image_generation';
/** Tools whose item itself can have failed; of the others `result` says so. */
const FAILABLE: ReadonlySet<string> = new Set(['service:advisor', 'service:subagent']);

/** Members of an item beside the arguments and the result, by its type: what clients show. */
type ShowMembers = (input: JsonObject, result: JsonObject) => JsonObject;

const MEMBERS: Readonly<Record<string, ShowMembers>> = {
  'service:advisor': ({ prompt }, { advice, model, error }) => ({ prompt, advice, model, error }),
  'service:subagent': ({ task_name, task_description }, { outcome, model, error }) => ({
    task_name,
    task_description,
    outcome,
    model,
    error,
  }),
  'service:files': ({ operation, filename, file_id }, { error }) => ({ operation, filename, file_id, error }),
  'service:fusion': (_input, { responses, analysis, failed_models, failure_reason, sources, error }) => ({
    responses,
    analysis,
    failed_models,
    failure_reason,
    sources,
    error,
  }),
  'service:image_generation': ({ prompt }, { imageUrl, revisedPrompt }) => ({ prompt, imageUrl, revisedPrompt }),
  'service:experimental__search_models': ({ query }) => ({ query }),
  'service:tool_search': ({ query }) => ({ query }),
  'service:web_fetch': ({ url }, { title, content, error }) => ({ url, title, content, error }),
  'service:web_search': ({ query }) => ({ action: { type: 'search', query: query ?? '' } }),
  'service:shell': ({ commands }, { output }) => ({ commands, output }),
  'service:bash': ({ command }, { stdout, stderr }) => ({ command, stdout, stderr }),
};

/** The item of a call that is running. @param input of the call, JSON text */
export function encodeRunningCall(type: string, callId: string, input: string): JsonObject {
  return {
    type,
    call_id: callId,
    arguments: input === '' ? '{}' : input,
    ...membersOf(type, input, {}),
  };
}

function membersOf(type: string, input: string, result: Json): JsonObject {
  const members = Object.hasOwn(MEMBERS, type) ? MEMBERS[type] : undefined;
  const read = isJsonObject(result) ? result : {};
  const shown = members === undefined ? plainMembers(read) : members(parseToolInputObject(input), read);
  return Object.fromEntries(Object.entries(shown).filter(([, value]) => value !== undefined));
}

/** Of a tool that has no members of its own here. */
function plainMembers(result: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(result).filter(([, value]) => typeof value === 'string'));
}

/**
 * Encodes a server tool that ran as an item of its own kind. Beside the members that clients show it has what the model
 * wrote and read, so that it becomes the same call and result when the caller sends it back.
 */
export const responsesServerCalls: ServerCallCodec = {
  shownId: (id) => id,
  shownName: (type) => type,
  encode: (call) => ({ type: 'opaque', format: 'responses', value: encodeCall(call) }),
  decode: decodeItem,
  showServers: (servers) =>
    servers
      .filter(({ entry }) => entry.type === 'server' && fieldsOf(entry, 'responses')?.['type'] === MCP_ENTRY)
      .map((server) => ({ type: 'opaque', format: 'responses', value: encodeServer(server) })),
};

function encodeServer({ server, tools, failure }: OfferedServer): JsonObject {
  return {
    type: MCP_LIST,
    server_label: server,
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema,
      annotations: null,
    })),
    ...(failure !== undefined && { error: failure }),
  };
}

/**
 * The item of a call where the caller named its server as the vendor does. `call_id` and what follows it are the gateway's
 * own: by them the call and its result come back to the model as they were.
 * @param item as it stands for a caller that named the gateway's tool
 */
export function encodeMcpCall({ server, tool }: McpToolName, item: JsonObject): JsonObject {
  const { call_id, arguments: input, result, error_code, turn, beside_tool_calls } = item;
  const own = { error_code, turn, beside_tool_calls };
  return {
    type: MCP_CALL,
    approval_request_id: null,
    arguments: input ?? '',
    error: error_code === undefined ? null : (result ?? ''),
    name: tool ?? server,
    output: error_code === undefined ? (result ?? null) : null,
    server_label: server,
    ...(error_code !== undefined && { status: 'failed' }),
    call_id: call_id ?? '',
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
  };
}

/** Whether it is one that the gateway made: vendors have no `call_id` there. */
export function isOwnMcpCall(item: JsonObject): boolean {
  return item['type'] === MCP_CALL && typeof item['call_id'] === 'string';
}

function decodeOwnMcpCall(item: JsonObject): ReplayedServerCall | undefined {
  const { server_label: server, name, output, error } = item;
  if (!isOwnMcpCall(item) || typeof server !== 'string' || typeof name !== 'string') return undefined;
  return decodeCall(MCP_TYPE, { ...item, name: mcpFunctionName(server, name), result: output ?? error ?? null });
}

function encodeCall({ id, type, name, input, result, errorCode, turn, besideCalls }: ServerCall): JsonObject {
  const text = JSON.stringify(result);
  const isKept = Buffer.byteLength(text) <= RESULT_BYTES_MAX;
  return {
    ...encodeRunningCall(type, id, input),
    ...(name !== functionNameOf(type) && { name }),
    ...membersOf(type, input, result),
    ...(type === SEARCH_TYPE && { action: searchAction(input, result) }),
    status: errorCode !== undefined && FAILABLE.has(type) ? 'failed' : 'completed',
    ...(isKept ? { result: text } : { result_truncated: true }),
    ...(errorCode !== undefined && { error_code: errorCode }),
    turn,
    ...(besideCalls && { beside_tool_calls: true }),
  };
}

function searchAction(input: string, result: Json): JsonObject {
  const { query } = parseToolInputObject(input);
  const sources = objectsOf(result).map(({ url }) => ({ type: 'url', url: url ?? '' }));
  return { type: 'search', query: query ?? '', sources };
}

function decodeItem(block: Block): ReplayedServerCall | undefined {
  if (block.type !== 'opaque' || block.format !== 'responses') return undefined;
  const { value } = block;
  const type = textOf(value['type']) ?? '';
  if (type === 'web_search_call') return decodeSearch(value);
  if (type === MCP_CALL) return decodeOwnMcpCall(value);
  return type.startsWith('service:') ? decodeCall(type, value) : undefined;
}

function decodeCall(type: string, value: JsonObject): ReplayedServerCall | undefined {
  const { call_id: id, name, arguments: input, result, turn } = value;
  if (typeof id !== 'string' || typeof input !== 'string' || typeof result !== 'string') return undefined;
  return {
    id,
    call: {
      name: textOf(name) ?? functionNameOf(type),
      input,
      ...(typeof turn === 'number' && { turn }),
      besideCalls: value['beside_tool_calls'] === true,
    },
    result: { text: result, failed: value['error_code'] !== undefined },
  };
}

/** A search that the caller named as its vendor does: what was found is there where `include` names it. */
function decodeSearch(value: JsonObject): ReplayedServerCall | undefined {
  const { id, call_id: callId, action, results, arguments: input } = value;
  const query = isJsonObject(action) ? textOf(action['query']) : undefined;
  if (!Array.isArray(results) || (query === undefined && typeof input !== 'string')) return undefined;
  return {
    id: textOf(callId) ?? textOf(id) ?? `call_${query ?? ''}`.slice(0, 64),
    call: { name: functionNameOf(SEARCH_TYPE), input: textOf(input) ?? JSON.stringify({ query }) },
    result: { text: JSON.stringify(results), failed: false },
  };
}
