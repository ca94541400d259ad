import type { GenerationRequest } from '../canonical/request.ts';
import type { Warnings } from './gateway/warnings.ts';
import { isAssistant, splitRuns, type PlacedBlock, type PlacedTurn } from './place-turns.ts';
import { refuseStrayResults } from './stray-results.ts';

/**
 * The runs of a conversation with each result in the run right behind its call: the wires want it there, and histories may
 * have it later.
 * @throws GatewayError 400 for the result of a call that there was not (stray-results.ts)
 * @source generation.md 1.1; pains.md 21
 */
export function settleResults(
  turns: readonly PlacedTurn[],
  request: GenerationRequest,
  warnings: Pick<Warnings, 'add'>,
): readonly (readonly PlacedTurn[])[] {
  refuseStrayResults(request);
  const homes = new Map<string, number>();
  const settled: PlacedTurn[][] = [];
  for (const [at, run] of splitRuns(turns).entries()) {
    const kept: PlacedTurn[] = [];
    settled.push(kept);
    for (const placed of run) {
      const late: PlacedBlock[] = [];
      for (const part of placed.blocks) {
        if (part.block.type === 'tool-call') homes.set(part.block.id, at);
        if (part.block.type !== 'tool-result') continue;
        const home = homes.get(part.block.callId);
        if (home === undefined || isAssistant(placed) || home === at - 1) continue;
        warnings.add('field-changed', part.path, 'moved to the call that it is the result of');
        settled[home + 1]?.push(withBlocks(placed, [part]));
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
  return settled;
}

function withBlocks({ turn, path }: PlacedTurn, blocks: readonly PlacedBlock[]): PlacedTurn {
  return { turn: { ...turn, blocks: blocks.map(({ block }) => block) }, path, blocks };
}
