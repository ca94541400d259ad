import type { Block } from '../../canonical/blocks.ts';
import type { ReplayedServerCall } from '../../canonical/server-call.ts';
import { randomText } from '../../lib/ids.ts';
import type { ServerCallWords } from '../format.ts';
import { modelIdOf, ownCallId } from '../gateway/own-results.ts';
import { callIdOfResult } from './stray-server-calls.ts';
import { drawServerResult, readServerResult } from './server-results.ts';

const RANDOM_CHARS = 20;
const TYPE_PREFIX = 'service:';
const FUNCTION_PREFIX = 'service_';

/**
 * How callers of this format are told of a server tool that ran: `server_tool_use`, and the block of its result, as a
 * vendor tells of its own tools. @source generation.md 5.3, 7.8
 */
export const messagesServerCalls: ServerCallWords = {
  shownId: (id, ordinal) => ownCallId(id, ordinal, () => randomText(RANDOM_CHARS)),
  shownName: (type, name) =>
    name.startsWith(FUNCTION_PREFIX) ? name.slice(FUNCTION_PREFIX.length) : type.slice(TYPE_PREFIX.length),
  draw: drawServerResult,
  read: readBlock,
};

function readBlock(block: Block): ReplayedServerCall | undefined {
  if (block.type === 'tool-call') {
    const id = block.runBy === 'upstream' ? modelIdOf(block.id) : undefined;
    return id === undefined ? undefined : { id, call: { name: FUNCTION_PREFIX + block.name, input: block.input } };
  }
  if (block.type !== 'opaque' || block.format !== 'messages') return undefined;
  const id = modelIdOf(callIdOfResult(block));
  return id === undefined ? undefined : { id, result: readServerResult(block.value) };
}
