import { withoutAttribution } from '../../../canonical/attribution.ts';
import type { Block } from '../../../canonical/blocks.ts';
import type { GenerationRequest, Turn } from '../../../canonical/request.ts';
import { pathOfConversation, pathsOfBlocks, pathsOfTurns } from './source-paths.ts';
import type { Warnings } from '../warnings.ts';

/** A block and its path in the caller's request. */
export interface LocatedBlock {
  readonly block: Block;
  readonly path: string;
}

/** A turn and where it came from. */
export interface LocatedTurn {
  readonly turn: Turn;
  readonly path: string;
  readonly blocks: readonly LocatedBlock[];
}

/** The turns with their paths, without the line by which one client marks its requests (@spec prompt-cache-9). */
export function locateTurns(request: GenerationRequest, warnings: Pick<Warnings, 'add'>): readonly LocatedTurn[] {
  const paths = pathsOfTurns(request);
  return request.turns.map((turn, index) => {
    const path = paths[index] ?? pathOfConversation(request.format);
    const blockPaths = pathsOfBlocks(request.format, turn, path);
    const blocks = turn.blocks.map((block, at) => ({ block, path: blockPaths[at] ?? path }));
    const isInstruction = index === 0 && request.format === 'messages' && turn.role === 'system';
    return { turn, path, blocks: isInstruction ? stripAttribution(blocks, warnings) : blocks };
  });
}

function stripAttribution(blocks: readonly LocatedBlock[], warnings: Pick<Warnings, 'add'>): readonly LocatedBlock[] {
  const [first, ...others] = blocks;
  if (first?.block.type !== 'text') return blocks;
  const text = withoutAttribution(first.block.text);
  if (text === first.block.text) return blocks;
  warnings.add('content-dropped', first.path, 'the attribution line of a client is kept from other vendors');
  return text === '' ? others : [{ ...first, block: { ...first.block, text } }, ...others];
}

/** A turn's blocks for a format that has no names of participants: the name stands before the text. @spec chat-6 */
export function nameSpeaker({ turn, blocks }: LocatedTurn): readonly LocatedBlock[] {
  if (turn.name === undefined || turn.role === 'tool') return blocks;
  const at = blocks.findIndex(({ block }) => block.type === 'text');
  return blocks.map((placed, index) =>
    index === at && placed.block.type === 'text'
      ? { ...placed, block: { ...placed.block, text: `${turn.name}: ${placed.block.text}` } }
      : placed,
  );
}

/** Assistant turns in a row, and whatever stands between two such runs. */
export function splitRuns(turns: readonly LocatedTurn[]): readonly (readonly LocatedTurn[])[] {
  const runs: LocatedTurn[][] = [];
  let last: LocatedTurn[] | undefined;
  for (const placed of turns) {
    const [first] = last ?? [];
    if (last !== undefined && first !== undefined && isAssistant(first) === isAssistant(placed)) last.push(placed);
    else runs.push((last = [placed]));
  }
  return runs;
}

export function isAssistant({ turn }: LocatedTurn): boolean {
  return turn.role === 'assistant';
}

/** Whether a turn holds instructions. */
export function isSystem({ role }: Turn): boolean {
  return role === 'system' || role === 'developer';
}
