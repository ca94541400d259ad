import type { EventBatch } from '../canonical/events.ts';

/** What a model said, as text. */
export interface CapturedResponse {
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  /** There was more than is kept. */
  readonly isCut: boolean;
}

/** UTF-16 units that are kept of one answer, all its texts together. */
const CHARS_MAX = 512 * 1_024;
const TOOL_CALLS_MAX = 500;

/** Keeps what an answer says while it passes by. Only where the workspace wants it kept. */
export class ResponseCapture {
  /** It may be stored as content. Else something else reads it. */
  readonly isStored: boolean;
  /** By index of the block: what is open, and where its text goes. */
  readonly #open = new Map<number, 'text' | 'reasoning' | { input: string }>();
  readonly #calls: { readonly id: string; readonly name: string; input: string }[] = [];
  #text = '';
  #reasoning = '';
  #charsLeft = CHARS_MAX;
  #isCut = false;

  constructor(isStored = true) {
    this.isStored = isStored;
  }

  push(batch: EventBatch): void {
    for (const event of batch) {
      if (event.type === 'block-delta') {
        if (event.text !== undefined) this.#add(event.index, event.text);
      } else if (event.type === 'block-start') {
        const { block, index } = event;
        if (block.type === 'text' || block.type === 'refusal') this.#openText(index, 'text', block.text);
        else if (block.type === 'reasoning' && block.form !== 'encrypted')
          this.#openText(index, 'reasoning', block.text);
        else if (block.type === 'tool-call') this.#openCall(index, block);
      } else if (event.type === 'block-end') this.#open.delete(event.index);
    }
  }

  /** The text of an answer that has no blocks. */
  pushText(text: string): void {
    this.#openText(0, 'text', text);
  }

  answer(): CapturedResponse {
    return { text: this.#text, reasoning: this.#reasoning, toolCalls: this.#calls, isCut: this.#isCut };
  }

  #openText(index: number, kind: 'text' | 'reasoning', text: string): void {
    this.#open.set(index, kind);
    this.#add(index, text);
  }

  #openCall(
    index: number,
    { id, name, input }: { readonly id: string; readonly name: string; readonly input: string },
  ): void {
    if (this.#calls.length === TOOL_CALLS_MAX) {
      this.#isCut = true;
      return;
    }
    const call = { id, name, input: '' };
    this.#calls.push(call);
    this.#open.set(index, call);
    this.#add(index, input);
  }

  #add(index: number, added: string): void {
    const kind = this.#open.get(index);
    if (kind === undefined || added === '') return;
    const text = added.slice(0, this.#charsLeft);
    this.#charsLeft -= text.length;
    if (text.length < added.length) this.#isCut = true;
    if (kind === 'text') this.#text += text;
    else if (kind === 'reasoning') this.#reasoning += text;
    else kind.input += text;
  }
}
