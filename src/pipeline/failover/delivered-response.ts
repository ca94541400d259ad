import type { BlockStartEvent, EventBatch } from '../../canonical/events.ts';

/** A longer response is not kept. UTF-16 units: ten times what models of today write at once. */
const DELIVERED_CHARS_MAX = 1_048_576;

/** What the caller has of a streamed answer, as far as another endpoint must know it to go on. */
export class DeliveredResponse {
  /** All text, without reasoning. */
  text = '';
  /** The block that has not ended. Only one of those that can be gone on from is open at a time. */
  open: { readonly index: number; readonly type: 'text' | 'reasoning' } | undefined;
  /** Of the block that comes next. */
  nextIndex = 0;
  /** It has come to its end. */
  hasEnded = false;
  #canGoOn = true;

  /**
   * Nothing but text and unsigned reasoning has been delivered: a call may be running already, and no model but its author
   * can go on from anything else.
   */
  get canGoOn(): boolean {
    return this.#canGoOn && !this.hasEnded;
  }

  /** Once for every batch that the caller gets. */
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
