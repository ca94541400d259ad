import type {
  BlockDeltaEvent,
  CitationEvent,
  EndEvent,
  EventBatch,
  FailedEvent,
  GenerationEvent,
} from '../../canonical/events.ts';
import { healJson, isJson, type WantedKind } from './heal-json.ts';
import { JsonPrefix } from './json-prefix.ts';
import { textOf, withOneText } from './one-text.ts';

/** A longer response is not repaired: UTF-16 units. What was held back is sent unchanged. */
const KEPT_CHARS_MAX = 262_144;

/** What became of an answer that was no JSON. */
export interface Healing {
  /** The text of the answer, as the model wrote it and as the caller has it. */
  readonly original: string;
  readonly healed: string;
  readonly improved: boolean;
}

export interface HealerOptions {
  readonly wanted: WantedKind;
  /** What is sure goes out at once, and only the rest waits for the end. Otherwise everything waits. */
  readonly streams: boolean;
  /** Called once, for a response that was not JSON. */
  readonly onHealed: (healing: Healing) => void;
}

/**
 * Repairs the text of one response. If several blocks have text, all of it is one text, as callers of the chat format
 * read it, and is returned in the first of them. @spec plugin-16
 */
export class Healer {
  readonly #options: HealerOptions;
  readonly #prefix = new JsonPrefix();
  /** The first block of text. */
  #target: number | undefined;
  /** All of its text so far, in the pieces that it came in: one long text would be copied with every piece. */
  readonly #pieces: string[] = [];
  #length = 0;
  /** How much of it went out or was left out, and what did neither. */
  #given = 0;
  #waiting = '';
  /** Of the first block: the places change with the text, so they are known only at the end. */
  readonly #sources: CitationEvent[] = [];
  /** What comes after the first thing that must wait. */
  #held: GenerationEvent[] | undefined;
  #isOver = false;

  constructor(options: HealerOptions) {
    this.#options = options;
    if (!options.streams) this.#held = [];
  }

  push(batch: EventBatch): EventBatch {
    if (this.#isOver) return batch;
    return batch.flatMap((event) => this.#take(event));
  }

  #take(event: GenerationEvent): readonly GenerationEvent[] {
    if (this.#isOver) return [event];
    if (event.type === 'end' || event.type === 'failed') return this.#finish(event);
    if (this.#held === undefined) return this.#pass(event);
    this.#held.push(event);
    return [];
  }

  #pass(event: GenerationEvent): readonly GenerationEvent[] {
    if (event.type === 'block-start' && this.#target === undefined && event.block.type === 'text') {
      this.#target = event.index;
      const { text } = event.block;
      return [{ ...event, block: { ...event.block, text: '' } }, ...this.#passText(event.index, text)];
    }
    if (!('index' in event) || event.index !== this.#target) return [event];
    if (event.type === 'block-delta' && event.text !== undefined) {
      const passed = this.#passText(event.index, event.text, event.extra);
      // Too long for a repair: all of it is sent unchanged.
      if (this.#isOver) return [...passed, ...this.#sources];
      // Nothing was held back or left out, so the upstream's own frame is still valid.
      return passed.length === 1 && this.#waiting === '' && passed[0]?.text === event.text ? [event] : passed;
    }
    if (event.type === 'citation') this.#sources.push(event);
    else if (event.type !== 'block-end') return [event];
    else if (this.#prefix.closed && this.#prefix.start === 0 && this.#waiting === '') {
      this.#isOver = true;
      return [...this.#sources, event];
    } else this.#held = [...this.#sources, event];
    return [];
  }

  #passText(index: number, text: string, extra?: BlockDeltaEvent['extra']): readonly BlockDeltaEvent[] {
    this.#pieces.push(text);
    this.#length += text.length;
    this.#waiting += text;
    if (this.#length > KEPT_CHARS_MAX) {
      this.#isOver = true;
      return deltaOf(index, this.#waiting, extra);
    }
    this.#prefix.push(text);
    const { start, sure } = this.#prefix;
    if (sure <= this.#given) return deltaOf(index, '', extra);
    const sureText = this.#waiting.slice(Math.max(start - this.#given, 0), sure - this.#given);
    this.#waiting = this.#waiting.slice(sure - this.#given);
    this.#given = sure;
    return deltaOf(index, sureText, extra);
  }

  #finish(end: EndEvent | FailedEvent): readonly GenerationEvent[] {
    this.#isOver = true;
    const held = this.#held ?? this.#sources;
    const target = this.#target;
    const text = this.#pieces.join('');
    const delivered = text.slice(this.#prefix.start, this.#given);
    // Cut off by a limit, it has no end that could be known.
    const mayHeal = end.type === 'end' && end.finish === 'stop';
    const healed = mayHeal ? this.#heal(text + textOf(held), delivered) : undefined;
    if (healed !== undefined) return [...withOneText(held, healed.slice(delivered.length), target), end];
    return target === undefined ? [...held, end] : [...deltaOf(target, this.#waiting), ...held, end];
  }

  /** `undefined`: the text goes out as the model wrote it. */
  #heal(original: string, delivered: string): string | undefined {
    if (original.trim() === '' || isJson(original)) return undefined;
    const { wanted, onHealed } = this.#options;
    const healed = this.#prefix.closed ? delivered : healJson(original, wanted);
    const improved = healed !== undefined && healed.startsWith(delivered);
    onHealed({ original, healed: improved ? healed : original, improved });
    return improved ? healed : undefined;
  }
}

function deltaOf(index: number, text: string, extra?: BlockDeltaEvent['extra']): readonly BlockDeltaEvent[] {
  if (text === '' && extra === undefined) return [];
  return [{ type: 'block-delta', index, text, ...(extra !== undefined && { extra }) }];
}
