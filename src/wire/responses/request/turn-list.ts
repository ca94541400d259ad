import type { Block, ReasoningBlock } from '../../../canonical/blocks.ts';
import type { Turn } from '../../../canonical/request.ts';

interface OpenTurn extends Pick<Turn, 'role' | 'plain' | 'name' | 'extra'> {
  readonly path: string;
  readonly blocks: Block[];
  readonly paths: string[];
}

/** Turns that are made of items, in order, each block with the path of what it was made of. */
export class TurnList {
  readonly #turns: OpenTurn[] = [];

  /** A turn of its own. */
  add({
    blocks,
    paths,
    ...turn
  }: Omit<OpenTurn, 'blocks' | 'paths'> & {
    readonly blocks: readonly Block[];
    readonly paths: readonly string[];
  }): void {
    this.#turns.push({ ...turn, blocks: [...blocks], paths: [...paths] });
  }

  /** Adds to the last turn where it is of that role. */
  join(role: 'assistant' | 'tool', blocks: readonly Block[], paths: readonly string[], path: string): void {
    const last = this.#turns.at(-1);
    if (last?.role !== role) {
      this.add({ role, blocks, paths, path });
      return;
    }
    last.blocks.push(...blocks);
    last.paths.push(...paths);
  }

  /** A signature stands before what it signs, although it came behind. */
  insertBeforeText(block: ReasoningBlock, path: string): void {
    const last = this.#turns.at(-1);
    const at = last?.role === 'assistant' ? last.blocks.findLastIndex(({ type }) => type === 'text') : -1;
    if (last === undefined || at < 0) {
      this.join('assistant', [block], [path], path);
      return;
    }
    last.blocks.splice(at, 0, block);
    last.paths.splice(at, 0, path);
  }

  /** A turn of the model without content is none; one of another role says that it is empty. */
  finish(): readonly Turn[] {
    return this.#turns.flatMap(({ path, paths, blocks, ...turn }): readonly Turn[] =>
      blocks.length === 0 && turn.role !== 'user' ? [] : [{ ...turn, blocks, source: { path, blocks: paths } }],
    );
  }
}
