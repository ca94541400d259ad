import type { Block } from '../../canonical/blocks.ts';
import { MCP_FUNCTION_PREFIX, type ReplayedServerCall } from '../../canonical/tools/server-call.ts';
import { randomText } from '../../lib/ids.ts';
import type { ServerCallCodec } from '../format.ts';
import { modelCallId, shownCallId } from '../gateway/server-tool-results.ts';
import { callIdOfResult } from './request/orphan-server-tools.ts';
import { encodeServerResult, decodeServerResult } from './server-tools.ts';

const RANDOM_CHARS = 20;
const FUNCTION_PREFIX = 'service_';

/**
 * How callers of this format are told of a server tool that ran: `server_tool_use`, and the block of its result, as a
 * vendor tells of its own tools. @spec tool-20
 */
export const messagesServerCalls: ServerCallCodec = {
  shownId: (id, ordinal) => shownCallId(id, ordinal, () => randomText(RANDOM_CHARS)),
  shownName: (_type, name) => (name.startsWith(FUNCTION_PREFIX) ? name.slice(FUNCTION_PREFIX.length) : name),
  encode: encodeServerResult,
  decode: decodeBlock,
};

function decodeBlock(block: Block): ReplayedServerCall | undefined {
  if (block.type === 'tool-call') {
    const id = block.runBy === 'upstream' ? modelCallId(block.id) : undefined;
    return id === undefined ? undefined : { id, call: { name: functionOf(block.name), input: block.input } };
  }
  if (block.type !== 'opaque' || block.format !== 'messages') return undefined;
  const id = modelCallId(callIdOfResult(block));
  return id === undefined ? undefined : { id, result: decodeServerResult(block.value) };
}

/** What was shown without its prefix had one, but for the functions of MCP servers. */
function functionOf(shown: string): string {
  return shown.startsWith(MCP_FUNCTION_PREFIX) ? shown : FUNCTION_PREFIX + shown;
}
