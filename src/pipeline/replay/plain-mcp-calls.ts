import type { Block } from '../../canonical/blocks.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import { mcpFunctionName } from '../../canonical/tools/mcp-function-name.ts';
import type { ReplayedServerCall } from '../../canonical/tools/server-call.ts';
import type { Json } from '../../lib/json.ts';
import type { Dialect, UpstreamFormat } from '../../wire/format.ts';
import { textOf } from '../../wire/json-fields.ts';
import { isOwnMcpCall } from '../../wire/responses/server-tools.ts';
import { splitTurns } from '../server-tools/restore-server-calls.ts';

/** A vendor's label of a server may hold more than the name of a function can. */
const ILLEGAL = /[^a-zA-Z0-9_-]/g;

/**
 * The request with the calls that a vendor made to MCP servers as calls of functions and their results, for an endpoint
 * that does not know their items: what was found there is text, and the conversation rests on it. @spec responses-136
 */
export function withPlainMcpCalls(
  request: GenerationRequest,
  format: UpstreamFormat,
  dialect: Dialect,
): GenerationRequest {
  if (request.format !== 'responses') return request;
  const knowsItem = format.id === 'responses' && dialect.openTools === true;
  const decode = knowsItem ? decodeOwnCall : decodeMcpCall;
  const isCall = (block: Block): boolean => decode(block) !== undefined;
  return request.turns.some(({ blocks }) => blocks.some(isCall)) ? splitTurns(request, () => decode) : request;
}

/** The gateway's own call of a server that the request does not name again: no vendor knows it. */
function decodeOwnCall(block: Block): ReplayedServerCall | undefined {
  return block.type === 'opaque' && isOwnMcpCall(block.value) ? decodeMcpCall(block) : undefined;
}

/** Only of a call that has ended: one without a result cannot be answered any more. */
function decodeMcpCall(block: Block): ReplayedServerCall | undefined {
  if (block.type !== 'opaque' || block.format !== 'responses' || block.value['type'] !== 'mcp_call') return undefined;
  const { id, server_label: server, name, arguments: input, output, error } = block.value;
  const failure = errorTextOf(error);
  const text = textOf(output) ?? failure;
  if (typeof id !== 'string' || typeof name !== 'string' || text === undefined) return undefined;
  return {
    id,
    call: { name: mcpFunctionName((textOf(server) ?? '').replaceAll(ILLEGAL, '_'), name), input: textOf(input) ?? '' },
    result: { text, failed: failure !== undefined },
  };
}

function errorTextOf(error: Json | undefined): string | undefined {
  if (error === undefined || error === null) return undefined;
  return typeof error === 'string' ? error : JSON.stringify(error);
}
