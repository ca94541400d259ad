import type { BlockStartEvent, EventBatch } from '../../canonical/events.ts';

/** A longer response is not kept. UTF-16 units: ten times what models of today write at once. */
const DELIVERED_CHARS_MAX = 1_048_576;

/** The delivered part of a streamed response, as far as another endpoint needs it to continue. */
export class DeliveredResponse {
  /** All text, without reasoning. */
  text = '';
  /** The block that has not ended. Of blocks that can be continued, only one is open at a time. */
  open: { readonly index: number; readonly type: 'text' | 'reasoning' } | undefined;
  /** The index of the next block. */
  nextIndex = 0;
  /** The response is complete. */
  hasEnded = false;
  #canGoOn = true;

  /**
   * Only text and unsigned reasoning was delivered. A delivered call may be running already, and only its own model can
   * continue from other blocks.
   */
  get canGoOn(): boolean {
    return this.#canGoOn && !this.hasEnded;
  }

  /** Runs once for every batch that the caller gets. */
  push(batch: EventBatch): void {
    for (const event of batch) {
      if (event.type === 'block-start') this.#start(event);
      else if (event.type === 'end') this.hasEnded = true;
      else if (event.type === 'block-end' && event.index === this.open?.index) this.open = undefined;
      else if (event.type === 'block-delta') {
        if (event.signature !== undefined) this.#stop();
        if (event.text !== undefined && event.index === this.open?.index && this.open.type === 'text')
          this.#add(event.text);
      }
    }
  }

  #start({ index, block }: BlockStartEvent): void {
    this.nextIndex = index + 1;
    if (block.type === 'text') {
      this.open = { index, type: 'text' };
      this.#add(block.text);
    } else if (block.type === 'reasoning' && block.form !== 'encrypted' && block.signature === undefined)
      this.open = { index, type: 'reasoning' };
    else this.#stop();
  }

  #add(text: string): void {
    if (!this.#canGoOn) return;
    this.text += text;
    if (this.text.length > DELIVERED_CHARS_MAX) this.#stop();
  }

  #stop(): void {
    this.#canGoOn = false;
    this.text = '';
  }
}
