import type { Citation } from '../../canonical/blocks.ts';
import type {
  BlockDeltaEvent,
  BlockStartEvent,
  EndEvent,
  EventBatch,
  GenerationEvent,
  UsageEvent,
} from '../../canonical/events.ts';
import type { Warning } from '../../canonical/extra.ts';
import { unreachable } from '../../lib/assert.ts';
import type { DeliveredResponse } from './delivered-response.ts';
import type { Joint, Splice } from './splice.ts';

/** The result of one batch of the second response. */
export type ContinuationOutcome =
  | { readonly type: 'held' }
  | { readonly type: 'joined'; readonly events: EventBatch }
  | { readonly type: 'apart' };

/** The number of warnings that wait; a record keeps fewer. */
const WAITING_MAX = 100;

const REASONING_DROPPED: Warning = {
  code: 'content-dropped',
  path: 'content',
  message: 'the reasoning of the endpoint that went on with the response, of which the caller has some already',
};

/**
 * Turns the events of a second response into those that continue a first one, which broke off: only what the caller does
 * not have yet, in blocks with continued indexes. It leaves out the repeated beginning and everything that belongs to it.
 */
export class ContinuedResponse {
  readonly #delivered: Pick<DeliveredResponse, 'text' | 'open' | 'nextIndex'>;
  readonly #splice: Splice;
  #isJoined = false;
  /** Events that came before it was known whether the responses fit, and that apply either way. */
  readonly #waiting: GenerationEvent[] = [];
  #usage: UsageEvent | undefined;
  /** The caller's block that the first response left open. */
  #openBlock: DeliveredResponse['open'];
  #nextIndex: number;
  /** The text block that is open in the second response before the two are joined. */
  #openText: number | undefined;
  /** The caller's index of each block of the second response. A block without one is left out. */
  readonly #indexes = new Map<number, number>();
  #receivedChars = 0;
  #receivedBytes = 0;
  /** The two do not fit as a restart, but the second may have been a continuation. */
  isUnclear = false;
  /** The part that the caller does not get, because it has it already or cannot use it. */
  leftOutBytes = 0;
  /** By how much a text position in the caller's response exceeds that in the second. */
  #shiftChars = 0;

  constructor(delivered: Pick<DeliveredResponse, 'text' | 'open' | 'nextIndex'>, splice: Splice) {
    this.#delivered = delivered;
    this.#splice = splice;
    this.#openBlock = delivered.open;
    this.#nextIndex = delivered.nextIndex;
  }

  push(batch: EventBatch): ContinuationOutcome {
    const events: GenerationEvent[] = [];
    for (const event of batch) {
      if (this.#isJoined) events.push(...this.#follow(event));
      else if (this.#begin(event, events) === 'apart') return { type: 'apart' };
    }
    return this.#isJoined ? { type: 'joined', events } : { type: 'held' };
  }

  #begin(event: GenerationEvent, events: GenerationEvent[]): 'apart' | undefined {
    switch (event.type) {
      case 'block-start':
        return this.#beginBlock(event, events);
      case 'block-delta':
        if (event.text === undefined) return undefined;
        if (event.index === this.#openText) return this.#pushText(event.text, events);
        this.leftOutBytes += Buffer.byteLength(event.text);
        return undefined;
      case 'block-end':
        if (event.index === this.#openText) this.#openText = undefined;
        return undefined;
      case 'end':
        return this.#joinAtEnd(event, events);
      case 'start':
        // The caller has this event already.
        this.#waiting.push({ type: 'start', format: event.format });
        return undefined;
      case 'usage':
        this.#usage = event;
        return undefined;
      case 'warning':
        if (this.#waiting.length < WAITING_MAX) this.#waiting.push(event);
        return undefined;
      // These refer to text that the caller has from the first response.
      case 'citation':
      case 'extra':
      case 'tool-progress':
      case 'failed':
        return undefined;
      default:
        return unreachable(event);
    }
  }

  #beginBlock(event: BlockStartEvent, events: GenerationEvent[]): 'apart' | undefined {
    const { block, index } = event;
    if (block.type === 'text') {
      this.#openText = index;
      return block.text === '' ? undefined : this.#pushText(block.text, events);
    }
    if (block.type !== 'reasoning') return this.#joinAtEnd(event, events);
    this.leftOutBytes += Buffer.byteLength(block.text);
    if (!this.#waiting.some((other) => other.type === 'warning' && other.warning === REASONING_DROPPED))
      this.#waiting.push({ type: 'warning', warning: REASONING_DROPPED });
    return undefined;
  }

  /** Joins when something other than text comes: all repetition has ended by then. */
  #joinAtEnd(event: BlockStartEvent | EndEvent, events: GenerationEvent[]): 'apart' | undefined {
    const apart = this.#join(this.#splice.end(), events);
    if (apart === undefined) events.push(...this.#follow(event));
    return apart;
  }

  #pushText(text: string, events: GenerationEvent[]): 'apart' | undefined {
    this.#receivedChars += text.length;
    this.#receivedBytes += Buffer.byteLength(text);
    return this.#join(this.#splice.push(text), events);
  }

  #join(joint: Joint, events: GenerationEvent[]): 'apart' | undefined {
    if (joint.type === 'apart') {
      this.isUnclear = joint.isUnclear === true;
      return 'apart';
    }
    if (joint.type === 'held') return undefined;
    this.#isJoined = true;
    const repeatedChars = this.#receivedChars - joint.text.length;
    this.leftOutBytes += this.#receivedBytes - Buffer.byteLength(joint.text);
    this.#shiftChars = this.#delivered.text.length - repeatedChars;
    events.push(...this.#waiting, ...(this.#usage === undefined ? [] : [this.#usage]));
    if (this.#openBlock?.type === 'reasoning') events.push(...this.#endOpenBlock());
    const from = this.#openText;
    if (this.#openBlock === undefined) {
      // A new text block begins only with text in it.
      if (joint.text === '') return undefined;
      this.#openBlock = { index: this.#nextIndex++, type: 'text' };
      events.push({ type: 'block-start', index: this.#openBlock.index, block: { type: 'text', text: '' } });
    }
    const { index } = this.#openBlock;
    if (joint.text !== '') events.push({ type: 'block-delta', index, text: joint.text });
    if (from === undefined) return undefined;
    this.#indexes.set(from, index);
    this.#openBlock = undefined;
    return undefined;
  }

  #follow(event: GenerationEvent): readonly GenerationEvent[] {
    switch (event.type) {
      case 'block-start': {
        if (event.block.type === 'text' && this.#openBlock !== undefined) {
          // This continues the text that the first response left open.
          const { index } = this.#openBlock;
          this.#openBlock = undefined;
          this.#indexes.set(event.index, index);
          return event.block.text === '' ? [] : [{ type: 'block-delta', index, text: event.block.text }];
        }
        const index = this.#nextIndex++;
        this.#indexes.set(event.index, index);
        return [...this.#endOpenBlock(), { ...event, index }];
      }
      case 'block-delta':
        if (event.index === this.#openText && !this.#indexes.has(event.index)) return this.#open(event);
        return this.#place(event.index, (index) => ({ ...withoutFrame(event), index }));
      case 'block-end':
        if (event.index === this.#openText) this.#openText = undefined;
        return this.#place(event.index, (index) => ({ type: 'block-end', index }));
      case 'citation': {
        const citation = shift(event.citation, this.#shiftChars);
        if (event.index < 0) return [{ ...event, citation }];
        return this.#place(event.index, (index) => ({ type: 'citation', index, citation }));
      }
      case 'end':
        return [...this.#endOpenBlock(), event];
      case 'start':
        return [];
      case 'usage':
      case 'warning':
      case 'extra':
      case 'tool-progress':
      case 'failed':
        return [event];
      default:
        return unreachable(event);
    }
  }

  /** Opens a block for the text in whose middle the two were joined, where the caller has no open block. */
  #open(event: BlockDeltaEvent): readonly GenerationEvent[] {
    const index = this.#nextIndex++;
    this.#indexes.set(event.index, index);
    return [
      { type: 'block-start', index, block: { type: 'text', text: '' } },
      { ...withoutFrame(event), index },
    ];
  }

  #place(from: number, serialize: (index: number) => GenerationEvent): readonly GenerationEvent[] {
    const index = this.#indexes.get(from);
    return index === undefined ? [] : [serialize(index)];
  }

  #endOpenBlock(): readonly GenerationEvent[] {
    const openBlock = this.#openBlock;
    this.#openBlock = undefined;
    return openBlock === undefined ? [] : [{ type: 'block-end', index: openBlock.index }];
  }
}

/** Drops the frame, which has the index and the id of the second response. */
function withoutFrame({ frame: _frame, ...event }: BlockDeltaEvent): BlockDeltaEvent {
  return event;
}

function shift(citation: Citation, chars: number): Citation {
  if (citation.type !== 'url' || chars === 0) return citation;
  const { start, end } = citation;
  return {
    ...citation,
    ...(start !== undefined && { start: Math.max(0, start + chars) }),
    ...(end !== undefined && { end: Math.max(0, end + chars) }),
  };
}
