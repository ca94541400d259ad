import type { Block } from '../../../canonical/blocks.ts';
import type { GenerationEvent } from '../../../canonical/events.ts';

/** An event of one block, or of a source in it. */
export type BlockEvent = Extract<GenerationEvent, { readonly index: number }>;

/** Events that wait; beyond it nothing waits any more. */
const WAITING_MAX = 100_000;

/** Lets blocks wait for others. What is said of a block that waits comes behind its beginning, in its order. */
export class BlockQueue {
  readonly #apply: (event: BlockEvent) => string;
  readonly #mustWait: (block: Block, behindOthers: boolean) => boolean;
  #events: BlockEvent[] = [];
  readonly #blocks = new Set<number>();

  /** @param mustWait whether a block may not begin now; `behindOthers`: others wait already */
  constructor(apply: (event: BlockEvent) => string, mustWait: (block: Block, behindOthers: boolean) => boolean) {
    this.#apply = apply;
    this.#mustWait = mustWait;
  }

  /** Nothing waits. */
  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  take(event: BlockEvent): string {
    const { isEmpty } = this;
    if (isEmpty && event.type !== 'block-start') return this.#apply(event);
    if (this.#waits(event)) {
      this.#events.push(event);
      return this.#events.length > WAITING_MAX ? this.flush() : '';
    }
    const frames = this.#apply(event);
    return isEmpty ? frames : frames + this.#advance();
  }

  /** Nothing comes that could be waited for. */
  flush(): string {
    const events = this.#events;
    this.#events = [];
    this.#blocks.clear();
    return events.map((event) => this.#apply(event)).join('');
  }

  #waits(event: BlockEvent): boolean {
    if (event.type !== 'block-start') return this.#blocks.has(event.index);
    if (!this.#mustWait(event.block, this.#blocks.size > 0)) return false;
    this.#blocks.add(event.index);
    return true;
  }

  /** Begins what may begin now, as often as that lets others begin. */
  #advance(): string {
    let frames = '';
    let before: number;
    do {
      before = this.#events.length;
      const events = this.#events;
      this.#events = [];
      this.#blocks.clear();
      for (const event of events)
        if (this.#waits(event)) this.#events.push(event);
        else frames += this.#apply(event);
    } while (this.#events.length > 0 && this.#events.length < before);
    return frames;
  }
}
