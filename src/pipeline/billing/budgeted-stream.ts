import { setTimeout as wait } from 'node:timers/promises';
import type { Block } from '../../canonical/blocks.ts';
import { estimateResponseTokens, estimateTurnTokens } from '../../canonical/estimate-tokens.ts';
import type { EventBatch, EventSource, GenerationEvent } from '../../canonical/events.ts';
import { withTimeout } from '../../lib/async/with-timeout.ts';
import { ESTIMATE_MARGIN } from './cost-estimate.ts';

/** Why an answer is cut: nothing more is left, or the state could not tell in time. */
export type BudgetEnd = 'reached' | 'unknown';

export interface StreamBudget {
  /** The longest answer that is reserved for, in tokens. */
  readonly reserved: () => number;
  /** `false`: nothing more is left. Rejects while the state cannot tell. */
  readonly extend: (usedTokens: number) => Promise<boolean>;
  readonly onCut: (reason: BudgetEnd) => void;
}

type Extension = 'extended' | 'refused' | 'unknown';

/** How long reading from an upstream pauses while it is unknown whether more is left. @spec money-36 */
const PAUSE_MS = 1_000;
/** Between two questions to a state that cannot tell. */
const AGAIN_MS = 100;

/**
 * A stream that ends, as at a maximum, where what is reserved for it ends. At half use of a slice more is reserved, while the
 * answer goes on. A class because it lives as long as its answer.
 * @spec money-34
 */
export class BudgetedStream implements EventSource {
  readonly #source: EventSource;
  readonly #budget: StreamBudget;
  readonly #used = new UsedTokens();
  #reserved: number;
  /** From here on more is reserved. Tokens. */
  #extendAt: number;
  #extending: Promise<Extension> | undefined;
  #isOver = false;
  /** Its end has been read. */
  #hasEnded = false;

  constructor(source: EventSource, budget: StreamBudget) {
    this.#source = source;
    this.#budget = budget;
    this.#reserved = budget.reserved();
    this.#extendAt = this.#reserved / 2;
  }

  async read(): Promise<EventBatch | undefined> {
    if (this.#isOver) return undefined;
    if (this.#used.tokens >= this.#extendAt && !this.#isComplete()) {
      if (this.#used.tokens < this.#reserved) void this.#extend();
      else {
        const outcome = await this.#makeRoom();
        if (this.#isOver) return undefined;
        if (outcome !== 'extended') return this.#cut(outcome === 'refused' ? 'reached' : 'unknown');
      }
    }
    const batch = await this.#source.read();
    if (batch !== undefined && this.#used.push(batch)) this.#hasEnded = true;
    return batch;
  }

  /** What is used is used: there is nothing left that could be cut, and nothing more to reserve for. */
  #isComplete(): boolean {
    return this.#hasEnded || this.#source.isComplete?.() === true;
  }

  cancel(): void {
    this.#isOver = true;
    this.#source.cancel();
  }

  /** One extension at a time, which later reads wait for. Never rejects. */
  #extend(): Promise<Extension> {
    return (this.#extending ??= this.#ask().finally(() => (this.#extending = undefined)));
  }

  async #ask(): Promise<Extension> {
    const before = this.#reserved;
    // Until the extension has settled, and after a refusal until the slice is used up, no other one is requested.
    this.#extendAt = before;
    try {
      if (!(await this.#budget.extend(this.#used.tokens))) return 'refused';
    } catch {
      // An answer that has begun fails for nothing that is wrong with its reservation.
      return 'unknown';
    }
    this.#reserved = this.#budget.reserved();
    this.#extendAt = (Math.max(before, this.#used.tokens) + this.#reserved) / 2;
    return 'extended';
  }

  /** Nothing is read meanwhile. */
  async #makeRoom(): Promise<Extension> {
    const endsMs = performance.now() + PAUSE_MS;
    for (;;) {
      // What was refused at half use may have come free.
      const isNew = this.#extending === undefined;
      const leftMs = endsMs - performance.now();
      if (leftMs <= 0) return 'unknown';
      const outcome = await withTimeout(this.#extend(), leftMs).catch((): Extension => 'unknown');
      if (this.#isOver || this.#used.tokens < this.#reserved) return 'extended';
      if (outcome === 'refused' && isNew) return 'refused';
      if (outcome === 'unknown') await wait(Math.min(AGAIN_MS, Math.max(0, endsMs - performance.now())));
    }
  }

  #cut(reason: BudgetEnd): EventBatch {
    this.cancel();
    this.#budget.onCut(reason);
    const ends = this.#used.open.map((index): GenerationEvent => ({ type: 'block-end', index }));
    return [...ends, { type: 'end', finish: 'length', isCut: true }];
  }
}

/** What an answer has taken so far: the greater of what the upstream counts and an estimate with a third on top. */
class UsedTokens {
  /** Blocks that stand open. */
  readonly open: number[] = [];
  tokens = 0;
  #bytes = 0;
  #deltas = 0;
  #reported = 0;
  #mediaTokens = 0;
  /** Open blocks whose text is no text: sound in base64. */
  readonly #media = new Set<number>();

  /** Once for every batch. @returns whether the answer is over with it */
  push(batch: EventBatch): boolean {
    let isOver = false;
    for (const event of batch) {
      if (event.type === 'block-delta') this.#grow(event.index, event.text);
      else if (event.type === 'block-start') this.#begin(event.index, event.block);
      else if (event.type === 'block-end') this.#end(event.index);
      else if (event.type === 'usage') this.#reported = event.usage.completionTokens;
      else if (event.type === 'end' || event.type === 'failed') isOver = true;
    }
    // With each delta comes a token or more.
    const estimated = Math.max(this.#deltas, Math.ceil(estimateResponseTokens(this.#bytes) * ESTIMATE_MARGIN));
    this.tokens = Math.max(this.#reported, estimated + this.#mediaTokens);
    return isOver;
  }

  #begin(index: number, block: Block): void {
    this.open.push(index);
    if (block.type === 'media') {
      this.#media.add(index);
      this.#mediaTokens += estimateTurnTokens({ role: 'assistant', blocks: [block] });
    } else if ('text' in block) this.#bytes += Buffer.byteLength(block.text);
    else if ('input' in block) this.#bytes += Buffer.byteLength(block.input);
  }

  #grow(index: number, text: string | undefined): void {
    if (text === undefined || text === '' || this.#media.has(index)) return;
    this.#bytes += Buffer.byteLength(text);
    this.#deltas++;
  }

  #end(index: number): void {
    const at = this.open.indexOf(index);
    if (at >= 0) this.open.splice(at, 1);
    this.#media.delete(index);
  }
}
