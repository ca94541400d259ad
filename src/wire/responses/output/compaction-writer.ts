import type { GenerationEvent } from '../../../canonical/events.ts';
import type { FormatId } from '../../../canonical/extra.ts';
import { encodeOpaqueItem, HostedItem } from './hosted-items.ts';
import type { Output } from './output.ts';

const COMPACTION = 'compaction';

/** @returns the sealed summary; `undefined` where it cannot be sealed */
export type SealSummary = (summary: string) => string | undefined;

/**
 * Writes a response that is to make a conversation shorter: one item with the summary, sealed, and nothing of what the
 * model wrote it with.
 */
export class CompactionWriter {
  readonly #output: Output;
  readonly #seal: SealSummary;
  #format: FormatId | undefined;
  #texts = new Set<number>();
  #summary = '';

  constructor(output: Output, seal: SealSummary) {
    this.#output = output;
    this.#seal = seal;
  }

  get format(): FormatId | undefined {
    return this.#format;
  }

  take(event: GenerationEvent): string {
    if (event.type === 'start') this.#format = event.format;
    else if (event.type === 'block-delta' && this.#texts.has(event.index)) this.#summary += event.text ?? '';
    else if (event.type === 'block-start') {
      const { block, index } = event;
      // An upstream that knows the step has done it.
      if (block.type === 'opaque' && block.value['type'] === COMPACTION) return encodeOpaqueItem(this.#output, block);
      if (block.type !== 'text') return '';
      this.#texts.add(index);
      this.#summary += block.text;
    }
    return '';
  }

  /** @param isCut the summary is not whole, so that nothing may be left out for it */
  finish(isCut: boolean): string {
    if (isCut || this.#output.length > 0 || this.#summary === '') return '';
    const sealed = this.#seal(this.#summary);
    const item = new HostedItem(this.#output, { type: COMPACTION, encrypted_content: '' }, false);
    return item.begin() + item.end(sealed === undefined ? { summary: this.#summary } : { encrypted_content: sealed });
  }

  heartbeat(): string {
    return '';
  }
}
