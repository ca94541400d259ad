import { hash } from 'node:crypto';
import { MCP_FUNCTION_PREFIX } from './server-call.ts';

/** What every vendor takes. @spec chat-21 */
const NAME_CHARS_MAX = 64;
const HASH_CHARS = 8;
const ILLEGAL = /[^a-zA-Z0-9_-]/g;

/** The function that stands for a server whose tools are not known. Names of servers have no `_`: none is another's. */
export function mcpPlaceholderName(server: string): string {
  return MCP_FUNCTION_PREFIX + server;
}

/**
 * The function that stands for a tool of a server. A hash replaces what a function's name cannot contain, so that a
 * tool has the same name in every request, whatever other tools there are.
 */
export function mcpFunctionName(server: string, tool: string): string {
  const plain = `${mcpPlaceholderName(server)}_${tool.replaceAll(ILLEGAL, '_')}`;
  if (plain.length <= NAME_CHARS_MAX && plain.endsWith(`_${tool}`)) return plain;
  const mark = hash('sha256', tool).slice(0, HASH_CHARS);
  return `${plain.slice(0, NAME_CHARS_MAX - HASH_CHARS - 1)}_${mark}`;
}
