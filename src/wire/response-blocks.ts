import type { Block } from '../canonical/blocks.ts';
import type { DeltaFrame, EventBatch, GenerationEvent } from '../canonical/events.ts';
import type { Extra } from '../canonical/extra.ts';

/** More of a response, for the block that its key names. */
export interface Piece {
  /** Pieces in a row with one key make one block. */
  readonly key: string;
  /** What the block is opened with, unless the piece before had the same key. */
  readonly block: Block;
  readonly text?: string | undefined;
  readonly signature?: string | undefined;
  readonly extra?: Extra | undefined;
  /** The block is complete with this piece. */
  readonly complete?: true;
}

const TEXT_KEY = 'text';

export function textPiece(text: string): Piece {
  return { key: TEXT_KEY, block: { type: 'text', text: '' }, text };
}

/** Writes the events of one response: opens and ends its blocks so that none overlap but calls, numbered from 0. */
export class ResponseBlocks {
  #events: GenerationEvent[] = [];
  #next = 0;
  #openIndex = -1;
  #openKey: string | undefined;

  emit(event: GenerationEvent): void {
    this.#events.push(event);
  }

  /** The events since the last time. */
  take(): EventBatch {
    const batch = this.#events;
    this.#events = [];
    return batch;
  }

  /** Index of the open text block. */
  get openText(): number | undefined {
    return this.#openKey === TEXT_KEY ? this.#openIndex : undefined;
  }

  /** Adds a piece of anything but a call. No call may be open. */
  put({ key, block, text, signature, extra, complete }: Piece): void {
    if (this.#openKey !== key) {
      this.#openIndex = this.open(block);
      this.#openKey = key;
    }
    if (text !== undefined || extra !== undefined) this.addDelta(this.#openIndex, text ?? '', extra);
    if (signature !== undefined) this.emit({ type: 'block-delta', index: this.#openIndex, signature });
    if (complete) this.endOpen();
  }

  /** Adds to an open text block, the most frequent event of all. False when none is open. */
  putText(text: string, frame: DeltaFrame | undefined): boolean {
    if (this.#openKey !== TEXT_KEY) return false;
    // All members, so that all deltas have one shape.
    this.#events.push({
      type: 'block-delta',
      index: this.#openIndex,
      text,
      signature: undefined,
      value: undefined,
      frame,
      extra: undefined,
    });
    return true;
  }

  /** Opens a block beside whatever calls are open; the caller keeps it by its index. */
  open(block: Block): number {
    this.endOpen();
    this.emit({ type: 'block-start', index: this.#next, block });
    return this.#next++;
  }

  addDelta(index: number, text: string, extra: Extra | undefined): void {
    this.emit({ type: 'block-delta', index, text, signature: undefined, value: undefined, frame: undefined, extra });
  }

  end(index: number): void {
    this.emit({ type: 'block-end', index });
  }

  /** Ends whatever is open but calls. */
  endOpen(): void {
    if (this.#openKey === undefined) return;
    this.#openKey = undefined;
    this.end(this.#openIndex);
  }
}
