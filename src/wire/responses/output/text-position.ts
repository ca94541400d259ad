import type { Block, TextBlock } from '../../../canonical/blocks.ts';
import type { FormatId } from '../../../canonical/extra.ts';
import { gapBeforeText } from '../../../canonical/text-gap.ts';

/** Where each text begins in the text of the whole response, from where citations count. */
export class TextPosition {
  #chars = 0;
  #gap = 0;
  #previous: Block | undefined;

  /** Any block but a text begins. */
  pass(block: Block): void {
    this.#previous = block;
  }

  /** @returns where the text begins, in characters */
  start(block: TextBlock, format: FormatId | undefined): number {
    this.#gap = gapBeforeText(format, this.#previous, this.#chars, block).length;
    this.#previous = block;
    this.#chars += this.#gap;
    return this.#chars;
  }

  /** @param chars of the text; an empty one has no gap before it */
  end(chars: number): void {
    this.#chars += chars === 0 ? -this.#gap : chars;
    this.#gap = 0;
  }
}
