import type { BlockDeltaEvent } from '../../../canonical/events.ts';

/** More of a block. */
export type BlockAddition = Pick<BlockDeltaEvent, 'text' | 'signature' | 'extra'>;

/** What takes the events of one block. */
export interface BlockTarget {
  add(delta: BlockAddition): string;
  /** The block is complete. */
  end(): string;
}

/** For blocks that the format has no place for. */
export const SILENT_TARGET: BlockTarget = { add: () => '', end: () => '' };
