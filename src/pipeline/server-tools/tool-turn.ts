import type { Block, Citation, ToolCallBlock } from '../../canonical/blocks.ts';
import type { BlockDeltaEvent, EndEvent, EventBatch, GenerationEvent } from '../../canonical/events.ts';
import type { FormatId } from '../../canonical/extra.ts';
import { createFold, type Fold } from '../../canonical/fold.ts';
import { gapBeforeText } from '../../canonical/text-gap.ts';

/** What a block takes beside its text. UTF-16 units. */
const BLOCK_CHARS = 64;

/** What the caller has of the answer, all turns together. It lives as long as the answer. */
export class ShownResponse {
  nextIndex = 0;
  /** Characters of text, with the gaps between texts. */
  textChars = 0;
  format: FormatId | undefined;
  /** Calls of server tools that were shown. */
  calls = 0;
  /** Sources of tools that ran, which the next text rests on. */
  readonly sources: Citation[] = [];
}

/** A call of a server tool, as far as the model has written it. */
export interface PendingCall {
  readonly id: string;
  readonly shownId: string;
  /** Of the function. */
  readonly name: string;
  input: string;
}

export interface ToolTurnOptions {
  /** From 0. */
  readonly turn: number;
  readonly shown: ShownResponse;
  /** Functions that stand for server tools. */
  readonly isServerTool: (name: string) => boolean;
  readonly showCall: (id: string, name: string, ordinal: number) => Pick<ToolCallBlock, 'id' | 'name' | 'mcp'>;
  /** Nothing may be called any more: calls of server tools are left out. */
  readonly isLast: boolean;
}

/** One turn of a model that may call server tools. A class because it lives as long as that turn. */
export class ToolTurn {
  readonly calls: PendingCall[] = [];
  /** Functions of the caller's were called. */
  callsCaller = false;
  /** The endpoint ran a tool itself. */
  ranUpstream = false;
  end: EndEvent | undefined;
  failed = false;
  /** UTF-16 units of all that it says. */
  chars = 0;
  readonly #options: ToolTurnOptions;
  readonly #fold: Fold = createFold();
  /** Where each block went; -1: the caller does not see it. */
  readonly #moved: number[] = [];
  readonly #byIndex = new Map<number, PendingCall>();
  /** Indexes of the model's own text blocks. */
  readonly #texts = new Set<number>();
  /** Where the text of this turn begins in that of the answer. */
  #textStart: number | undefined;
  #lastBlock: Block | undefined;

  constructor(options: ToolTurnOptions) {
    this.#options = options;
  }

  /** What the model said with the turn, as it said it. */
  blocks(): readonly Block[] {
    return this.#fold.response().blocks;
  }

  /** What of the batch is for the caller: everything but the end, which is not the end of the answer yet. */
  push(batch: EventBatch): readonly GenerationEvent[] {
    this.#fold.push(batch);
    return batch.flatMap((event) =>
      event.type === 'block-end' ? this.#close(event.index) : (this.#pass(event) ?? []),
    );
  }

  #close(given: number): readonly GenerationEvent[] {
    const index = this.#moved[given] ?? -1;
    if (index < 0) return [];
    const { shown } = this.#options;
    const sources = this.#texts.has(given) ? shown.sources.splice(0) : [];
    const citations = sources.map((citation) => ({ type: 'citation', index, citation }) as const);
    return [...citations, { type: 'block-end', index }];
  }

  #pass(event: GenerationEvent): GenerationEvent | undefined {
    switch (event.type) {
      case 'start':
        return this.#startOf(event);
      case 'block-start':
        return this.#open(event.index, event.block);
      case 'block-delta':
        return this.#delta(event);
      case 'citation': {
        const index = event.index < 0 ? -1 : (this.#moved[event.index] ?? -1);
        return { ...event, index, citation: this.#place(event.citation) };
      }
      case 'end':
        this.end = event;
        return undefined;
      case 'failed':
        this.failed = true;
        return event;
      case 'block-end':
      case 'usage':
      case 'warning':
      case 'extra':
      case 'tool-progress':
      default:
        return event;
    }
  }

  /** Of a later turn the format alone, where it is another. */
  #startOf(event: Extract<GenerationEvent, { type: 'start' }>): GenerationEvent | undefined {
    const { shown, turn } = this.#options;
    const isKnown = shown.format === event.format;
    shown.format = event.format;
    if (turn === 0) return event;
    return isKnown ? undefined : { type: 'start', format: event.format };
  }

  #open(index: number, block: Block): GenerationEvent | undefined {
    if (block.type === 'text') this.#texts.add(index);
    this.chars += BLOCK_CHARS + ('text' in block ? block.text.length : 0);
    const shownBlock = block.type === 'tool-call' ? this.#call(index, block) : this.#placeText(block);
    this.#lastBlock = block;
    if (shownBlock === undefined) {
      this.#moved[index] = -1;
      return undefined;
    }
    const at = this.#options.shown.nextIndex++;
    this.#moved[index] = at;
    return { type: 'block-start', index: at, block: shownBlock };
  }

  #call(index: number, block: ToolCallBlock): Block | undefined {
    const { isServerTool, isLast, shown, showCall } = this.#options;
    if (block.runBy !== 'caller') {
      this.ranUpstream = true;
      return block;
    }
    if (!isServerTool(block.name)) {
      this.callsCaller = true;
      return block;
    }
    if (isLast) return undefined;
    const shownCall = showCall(block.id, block.name, shown.calls++);
    const call: PendingCall = { id: block.id, shownId: shownCall.id, name: block.name, input: block.input };
    this.calls.push(call);
    this.#byIndex.set(index, call);
    return { type: 'tool-call', ...shownCall, input: block.input, runBy: 'gateway' };
  }

  #placeText(block: Block): Block {
    if (block.type !== 'text') return block;
    const { shown, turn } = this.#options;
    const isFirst = this.#textStart === undefined;
    const text = isFirst && turn > 0 ? { ...block, apart: true as const } : block;
    const { length } = gapBeforeText(shown.format, this.#lastBlock, shown.textChars, text);
    this.#textStart ??= shown.textChars + length;
    shown.textChars += length + text.text.length;
    if (text.citations === undefined) return text;
    return { ...text, citations: text.citations.map((citation) => this.#place(citation)) };
  }

  #delta(event: BlockDeltaEvent): GenerationEvent | undefined {
    const { index, text, frame: _frame, ...rest } = event;
    const call = this.#byIndex.get(index);
    this.chars += text?.length ?? 0;
    if (call !== undefined && text !== undefined) call.input += text;
    const at = this.#moved[index] ?? -1;
    if (at < 0) return undefined;
    if (text !== undefined && this.#texts.has(index)) this.#options.shown.textChars += text.length;
    // The frame tells indexes of this turn, so it cannot be written again.
    return { ...rest, index: at, ...(text !== undefined && { text }) };
  }

  /** Places are counted in the text of the whole answer, of which the model knows this turn's. */
  #place(citation: Citation): Citation {
    if (citation.type !== 'url' || citation.start === undefined) return citation;
    const start = this.#textStart ?? this.#options.shown.textChars;
    const { end } = citation;
    return { ...citation, start: citation.start + start, ...(end !== undefined && { end: end + start }) };
  }
}
