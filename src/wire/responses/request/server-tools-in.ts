import type { ServerTool, Tool } from '../../../canonical/request.ts';
import { MCP_TYPE } from '../../../canonical/tools/server-call.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { asExtra, restOf } from '../../extra.ts';
import { objectAt, objectOf, textOf } from '../../json-fields.ts';
import { isAbsent } from './read-fields.ts';

const SERVICE_PREFIX = 'service:';
/** What the vendor calls its search, in the versions that there have been. */
const WEB_SEARCHES: ReadonlySet<string> = new Set([
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
]);
export const WEB_SEARCH = 'service:web_search';
const SEARCH_MEMBERS = [
  'engine',
  'max_results',
  'max_uses',
  'mode',
  'search_context_size',
  'user_location',
  'parameters',
] as const;
const SERVER_TOOL_MEMBERS: ReadonlySet<string> = new Set(['type', 'parameters']);

export function isServiceTool(type: string): boolean {
  return type.startsWith(SERVICE_PREFIX);
}

export function isWebSearch(type: string): boolean {
  return WEB_SEARCHES.has(type);
}

/**
 * A tool that its caller does not run. A search is the gateway's, which an endpoint with one of its own makes by itself;
 * any other tool of a vendor stays as it came until it is known which endpoint serves.
 */
export function decodeServerTool(type: string, value: JsonObject): Tool {
  if (isWebSearch(type)) return decodeWebSearch(value);
  if (type === 'mcp' && isAbsent(value['server_url']) && isAbsent(value['connector_id'])) return decodeServer(value);
  if (!isServiceTool(type)) return { type: 'opaque', format: 'responses', value };
  const parameters = objectOf(value['parameters']);
  const rest = restOf(value, SERVER_TOOL_MEMBERS);
  return { type: 'server', name: type, ...(parameters && { parameters }), ...asExtra('responses', rest) };
}

/** A server without an address is one that the operator has set up. */
function decodeServer(value: JsonObject): ServerTool {
  const { server_label: server, allowed_tools: allowed } = value;
  const names = Array.isArray(allowed) ? allowed : objectOf(allowed)?.['tool_names'];
  const parameters = { server: server ?? '', ...(!isAbsent(names) && { allowed_tools: names }) };
  return { type: 'server', name: MCP_TYPE, parameters, extra: { format: 'responses', fields: value } };
}

/** Names of the MCP servers of the gateway among the tools. */
export function serversOf(tools: readonly Tool[]): ReadonlySet<string> {
  const names = tools.flatMap((tool) =>
    tool.type === 'server' && tool.name === MCP_TYPE ? (textOf(tool.parameters?.['server']) ?? []) : [],
  );
  return new Set(names);
}

/** The extra fields are the entry itself: the caller gets items of the kind that it named. */
function decodeWebSearch(value: JsonObject): ServerTool {
  const { allowed_domains: allowed, excluded_domains: excluded, blocked_domains: blocked } = objectAt(value, 'filters');
  const left = isAbsent(excluded) ? blocked : excluded;
  const { parameters, ...settings } = Object.fromEntries(
    SEARCH_MEMBERS.flatMap((member) => (isAbsent(value[member]) ? [] : [[member, value[member]]])),
  );
  const all: JsonObject = {
    ...(!isAbsent(allowed) && { allowed_domains: allowed }),
    ...(!isAbsent(left) && { excluded_domains: left }),
    ...settings,
    ...objectOf(parameters),
  };
  return {
    type: 'server',
    name: WEB_SEARCH,
    ...(Object.keys(all).length > 0 && { parameters: all }),
    extra: { format: 'responses', fields: value },
  };
}
