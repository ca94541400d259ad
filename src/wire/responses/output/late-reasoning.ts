import type { ReasoningBlock } from '../../../canonical/blocks.ts';
import type { BlockAddition, BlockTarget } from './block-target.ts';

/** Encrypted reasoning that came behind a text and is written when the message has ended. */
export class LateReasoning implements BlockTarget {
  readonly block: ReasoningBlock;
  text: string;

  constructor(block: ReasoningBlock) {
    this.block = block;
    this.text = block.text;
  }

  add({ text }: BlockAddition): string {
    this.text += text ?? '';
    return '';
  }

  end(): string {
    return '';
  }
}
