import type { GenerationRequest } from '../../../canonical/request.ts';
import type { Warnings } from '../warnings.ts';
import { isAssistant, splitRuns, type LocatedBlock, type LocatedTurn } from '../source/source-positions.ts';
import { refuseOrphanToolResults } from './orphan-tool-results.ts';

/**
 * The runs of a conversation with each result in the run right behind its call: the wires want it there, and histories may
 * have it later.
 * @throws GatewayError 400 for the result of a call that there was not (orphan-tool-results.ts)
 * @spec chat-8, translate-4
 */
export function resolveToolResults(
  turns: readonly LocatedTurn[],
  request: GenerationRequest,
  warnings: Pick<Warnings, 'add'>,
): readonly (readonly LocatedTurn[])[] {
  refuseOrphanToolResults(request);
  if (!turns.some(({ blocks }) => blocks.some(({ block }) => block.type === 'tool-result'))) return splitRuns(turns);
  const runOfCall = new Map<string, number>();
  const resolved: LocatedTurn[][] = [];
  for (const [at, run] of splitRuns(turns).entries()) {
    const kept: LocatedTurn[] = [];
    resolved.push(kept);
    for (const placed of run) {
      const late: LocatedBlock[] = [];
      for (const part of placed.blocks) {
        if (part.block.type === 'tool-call') runOfCall.set(part.block.id, at);
        if (part.block.type !== 'tool-result') continue;
        const callRun = runOfCall.get(part.block.callId);
        if (callRun === undefined || isAssistant(placed) || callRun === at - 1) continue;
        warnings.add('field-changed', part.path, 'moved to the call that it is the result of');
        resolved[callRun + 1]?.push(withBlocks(placed, [part]));
        late.push(part);
      }
      if (late.length === 0) kept.push(placed);
      else if (late.length < placed.blocks.length)
        kept.push(
          withBlocks(
            placed,
            placed.blocks.filter((part) => !late.includes(part)),
          ),
        );
    }
  }
  return resolved;
}

function withBlocks({ turn, path }: LocatedTurn, blocks: readonly LocatedBlock[]): LocatedTurn {
  return { turn: { ...turn, blocks: blocks.map(({ block }) => block) }, path, blocks };
}
