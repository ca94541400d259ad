import { invalid } from '../../../canonical/gateway-error.ts';
import type { ClientFormatId } from '../../../canonical/extra.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import { pathOfConversation, pathsOfBlocks, pathsOfTurns } from '../source/source-paths.ts';

/**
 * No format takes a result without its call. Such a result is refused, and not dropped (@spec chat-8):
 * a model that goes on without the result makes one up.
 * @throws GatewayError 400 for the result of a call that there was not before
 */
export function refuseOrphanToolResults(request: GenerationRequest): void {
  const called = new Set<string>();
  for (const [at, { blocks }] of request.turns.entries())
    for (const [index, block] of blocks.entries()) {
      if (block.type === 'tool-call') called.add(block.id);
      else if (block.type === 'tool-result' && !called.has(block.callId))
        throw invalid(pathOfCallId(request, at, index), 'is the id of no earlier tool call', 'invalid_prompt');
    }
}

const ID_MEMBERS: Readonly<Record<ClientFormatId, string>> = {
  chat: 'tool_call_id',
  messages: 'tool_use_id',
  responses: 'call_id',
};

function pathOfCallId(request: GenerationRequest, at: number, index: number): string {
  const { format, turns } = request;
  const turn = turns[at];
  const path = pathsOfTurns(request)[at] ?? pathOfConversation(format);
  const block = turn && pathsOfBlocks(format, turn, path)[index];
  return `${block ?? path}.${ID_MEMBERS[format]}`;
}
