import type { Block } from '../../canonical/blocks.ts';
import type { ReplayedServerCall, ServerCall } from '../../canonical/tools/server-call.ts';
import type { JsonObject } from '../../lib/json.ts';
import type { ServerCallCodec } from '../format.ts';

const DETAIL = 'reasoning.server_tool_call';

/**
 * Encodes a server tool that ran as one entry of `reasoning_details`, which comes back with the message. Beside the
 * members of @spec tool-19 it holds what the gateway needs to rebuild the conversation.
 * @spec tool-19, tool-21
 */
export const chatServerCalls: ServerCallCodec = {
  shownId: (id) => id,
  shownName: (type) => type,
  encode: (call) => ({ type: 'opaque', format: 'chat', value: encodeDetail(call) }),
  decode: decodeDetail,
};

function encodeDetail(call: ServerCall): JsonObject {
  return {
    type: DETAIL,
    tool_name: call.type,
    arguments: call.input === '' ? '{}' : call.input,
    result: JSON.stringify(call.result),
    tool_call_id: call.id,
    function_name: call.name,
    turn: call.turn,
    ...(call.errorCode !== undefined && { error_code: call.errorCode }),
    ...(call.besideCalls && { beside_tool_calls: true }),
  };
}

function decodeDetail(block: Block): ReplayedServerCall | undefined {
  if (block.type !== 'opaque' || block.format !== 'chat' || block.value['type'] !== DETAIL) return undefined;
  const { tool_call_id: id, function_name: name, tool_name: type, arguments: input, result, turn } = block.value;
  if (typeof id !== 'string' || typeof type !== 'string' || typeof input !== 'string' || typeof result !== 'string')
    return undefined;
  return {
    id,
    call: {
      name: typeof name === 'string' ? name : type.replaceAll(':', '_'),
      input,
      ...(typeof turn === 'number' && { turn }),
      besideCalls: block.value['beside_tool_calls'] === true,
    },
    result: { text: result, failed: block.value['error_code'] !== undefined },
  };
}
