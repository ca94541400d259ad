import { randomText } from '../../lib/ids.ts';

/** How the ids of items begin, by their type: vendors and clients refuse an id that begins like that of another kind. */
const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  local_shell_call: 'lsh',
  local_shell_call_output: 'lsho',
  shell_call: 'sh',
  shell_call_output: 'sho',
  apply_patch_call: 'apc',
  apply_patch_call_output: 'apco',
  tool_search_call: 'tsc',
  tool_search_output: 'tso',
  web_search_call: 'ws',
  file_search_call: 'fs',
  code_interpreter_call: 'ci',
  computer_call: 'cu',
  computer_call_output: 'cuo',
  image_generation_call: 'ig',
  mcp_call: 'mcp',
  mcp_list_tools: 'mcpl',
  mcp_approval_request: 'mcpr',
  compaction: 'cmp',
};
const SERVICE_PREFIX = 'service:';
const RANDOM_CHARS = 24;

/** `msg`, without the underscore. @param type of an item */
export function itemIdPrefix(type: string): string {
  if (type.startsWith(SERVICE_PREFIX)) return 'st';
  return (Object.hasOwn(PREFIXES, type) ? PREFIXES[type] : undefined) ?? 'item';
}

/** A new id for an item of a type: `msg_` and 24 random characters. */
export function newItemId(type: string): string {
  return `${itemIdPrefix(type)}_${randomText(RANDOM_CHARS)}`;
}
