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

/** What a batch of the second answer came to. */
export type GoneOn =
  | { readonly type: 'held' }
  | { readonly type: 'joined'; readonly events: EventBatch }
  | { readonly type: 'apart' };

/** More than a record keeps of them. */
const WAITING_MAX = 100;

const SECOND_THOUGHTS: Warning = {
  code: 'content-dropped',
  path: 'content',
  message: 'the reasoning of the endpoint that went on with the answer, of which the caller has some already',
};

/**
 * Makes the events of an answer those that follow on another one, which broke off: only what the caller does not have
 * yet, in blocks whose indexes go on. Its beginning, and what belongs to text that is left out, is left out too.
 */
export class ResponseThatGoesOn {
  readonly #delivered: Pick<DeliveredResponse, 'text' | 'open' | 'nextIndex'>;
  readonly #splice: Splice;
  #isJoined = false;
  /** What was read before it was known whether the answers fit, and holds whatever comes. */
  readonly #waiting: GenerationEvent[] = [];
  #usage: UsageEvent | undefined;
  /** The caller's block that the first answer left open. */
  #left: DeliveredResponse['open'];
  #nextIndex: number;
  /** The text block that is open now in the second answer, before the two are joined. */
  #openText: number | undefined;
  /** Of blocks of the second answer: the caller's index. Those without are left out. */
  readonly #indexes = new Map<number, number>();
  #saidChars = 0;
  #saidBytes = 0;
  /** Where the two are apart: it may also have been the continuation. */
  isUnclear = false;
  /** What the caller does not get of it, as it has it already or cannot use it. */
  leftOutBytes = 0;
  /** How much further text stands in the caller's answer than in the second. */
  #shiftChars = 0;

  constructor(delivered: Pick<DeliveredResponse, 'text' | 'open' | 'nextIndex'>, splice: Splice) {
    this.#delivered = delivered;
    this.#splice = splice;
    this.#left = delivered.open;
    this.#nextIndex = delivered.nextIndex;
  }

  push(batch: EventBatch): GoneOn {
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
      // What is said of text here belongs to text that the caller has from the first.
      case 'citation':
      case 'extra':
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
    if (!this.#waiting.some((other) => other.type === 'warning' && other.warning === SECOND_THOUGHTS))
      this.#waiting.push({ type: 'warning', warning: SECOND_THOUGHTS });
    return undefined;
  }

  /** Something else than text comes: whatever was to be said again has been said by now. */
  #joinAtEnd(event: BlockStartEvent | EndEvent, events: GenerationEvent[]): 'apart' | undefined {
    const apart = this.#join(this.#splice.end(), events);
    if (apart === undefined) events.push(...this.#follow(event));
    return apart;
  }

  #pushText(text: string, events: GenerationEvent[]): 'apart' | undefined {
    this.#saidChars += text.length;
    this.#saidBytes += Buffer.byteLength(text);
    return this.#join(this.#splice.push(text), events);
  }

  #join(joint: Joint, events: GenerationEvent[]): 'apart' | undefined {
    if (joint.type === 'apart') {
      this.isUnclear = joint.isUnclear === true;
      return 'apart';
    }
    if (joint.type === 'held') return undefined;
    this.#isJoined = true;
    const statedBefore = this.#saidChars - joint.text.length;
    this.leftOutBytes += this.#saidBytes - Buffer.byteLength(joint.text);
    this.#shiftChars = this.#delivered.text.length - statedBefore;
    events.push(...this.#waiting, ...(this.#usage === undefined ? [] : [this.#usage]));
    if (this.#left?.type === 'reasoning') events.push(...this.#endLeft());
    const from = this.#openText;
    if (this.#left === undefined) {
      // A text of its own begins when it has something to say.
      if (joint.text === '') return undefined;
      this.#left = { index: this.#nextIndex++, type: 'text' };
      events.push({ type: 'block-start', index: this.#left.index, block: { type: 'text', text: '' } });
    }
    const { index } = this.#left;
    if (joint.text !== '') events.push({ type: 'block-delta', index, text: joint.text });
    if (from === undefined) return undefined;
    this.#indexes.set(from, index);
    this.#left = undefined;
    return undefined;
  }

  #follow(event: GenerationEvent): readonly GenerationEvent[] {
    switch (event.type) {
      case 'block-start': {
        if (event.block.type === 'text' && this.#left !== undefined) {
          // Still the text that the first answer left open.
          const { index } = this.#left;
          this.#left = undefined;
          this.#indexes.set(event.index, index);
          return event.block.text === '' ? [] : [{ type: 'block-delta', index, text: event.block.text }];
        }
        const index = this.#nextIndex++;
        this.#indexes.set(event.index, index);
        return [...this.#endLeft(), { ...event, index }];
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
        return [...this.#endLeft(), event];
      case 'start':
        return [];
      case 'usage':
      case 'warning':
      case 'extra':
      case 'failed':
        return [event];
      default:
        return unreachable(event);
    }
  }

  /** The text in whose middle the two were joined, where the caller has none open. */
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

  #endLeft(): readonly GenerationEvent[] {
    const left = this.#left;
    this.#left = undefined;
    return left === undefined ? [] : [{ type: 'block-end', index: left.index }];
  }
}

/** Its frame names the index and the id that it had in its own answer. */
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
