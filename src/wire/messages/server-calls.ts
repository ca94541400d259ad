import type { Block } from '../../canonical/blocks.ts';
import { MCP_FUNCTION_PREFIX, type ReplayedServerCall } from '../../canonical/server-call.ts';
import { randomText } from '../../lib/ids.ts';
import type { ServerCallWords } from '../format.ts';
import { modelIdOf, ownCallId } from '../gateway/own-results.ts';
import { callIdOfResult } from './stray-server-calls.ts';
import { drawServerResult, readServerResult } from './server-results.ts';

const RANDOM_CHARS = 20;
const FUNCTION_PREFIX = 'service_';

/**
 * How callers of this format are told of a server tool that ran: `server_tool_use`, and the block of its result, as a
 * vendor tells of its own tools. @source generation.md 5.3, 7.8
 */
export const messagesServerCalls: ServerCallWords = {
  shownId: (id, ordinal) => ownCallId(id, ordinal, () => randomText(RANDOM_CHARS)),
  shownName: (_type, name) => (name.startsWith(FUNCTION_PREFIX) ? name.slice(FUNCTION_PREFIX.length) : name),
  draw: drawServerResult,
  read: readBlock,
};

function readBlock(block: Block): ReplayedServerCall | undefined {
  if (block.type === 'tool-call') {
    const id = block.runBy === 'upstream' ? modelIdOf(block.id) : undefined;
    return id === undefined ? undefined : { id, call: { name: functionOf(block.name), input: block.input } };
  }
  if (block.type !== 'opaque' || block.format !== 'messages') return undefined;
  const id = modelIdOf(callIdOfResult(block));
  return id === undefined ? undefined : { id, result: readServerResult(block.value) };
}

/** What was shown without its prefix had one, but for the functions of MCP servers. */
function functionOf(shown: string): string {
  return shown.startsWith(MCP_FUNCTION_PREFIX) ? shown : FUNCTION_PREFIX + shown;
}
