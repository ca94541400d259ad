import type { Block } from '../../canonical/blocks.ts';
import type { EventBatch, GenerationEvent } from '../../canonical/events.ts';
import type { FormatId } from '../../canonical/extra.ts';
import { hasFragileNumbers, keepNumber } from '../../lib/json.ts';

/** A complete answer as the cache keeps it. */
export interface CachedResponse {
  readonly version: typeof VERSION;
  /** Of the generation that gave it. */
  readonly generationId: string;
  /** The slugs of the endpoint that responded. */
  readonly model: string;
  readonly provider: string;
  /** What the upstream spoke. */
  readonly format: FormatId;
  /** Unix ms. */
  readonly storedAtMs: number;
  readonly ttlMs: number;
  /** What the caller got of it: no usage, no warnings, and deltas of one block joined. */
  readonly events: EventBatch;
}

/** Another version of the gateway may have cached what this one cannot read: that is a miss. */
const VERSION = 1;
/** UTF-16 units of text, input, pictures and results of tools; what is longer would not be kept anyway. */
const CHARS_MAX = 1_000_000;
const EVENTS_MAX = 20_000;

/** Collects an answer while it passes by. */
export class ResponseCacheWriter {
  #events: GenerationEvent[] = [];
  #chars = 0;
  #isTooLong = false;

  push(batch: EventBatch): void {
    if (this.#isTooLong) return;
    for (const event of batch) this.#take(event);
    if (this.#chars <= CHARS_MAX && this.#events.length <= EVENTS_MAX) return;
    this.#isTooLong = true;
    this.#events = [];
  }

  /** `undefined`: there was too much of it, or it did not come to its end. */
  events(): EventBatch | undefined {
    return !this.#isTooLong && this.#events.some(({ type }) => type === 'end') ? this.#events : undefined;
  }

  #take(event: GenerationEvent): void {
    if (event.type === 'usage' || event.type === 'warning' || event.type === 'tool-progress') return;
    if (event.type !== 'block-delta') {
      if (event.type === 'block-start') this.#chars += charsOf(event.block);
      this.#events.push(event);
      return;
    }
    // A frame is what one upstream wrote once: the answer that is given again is given anew.
    const { frame: _frame, ...delta } = event;
    this.#chars += delta.text?.length ?? 0;
    const last = this.#events.at(-1);
    if (
      last?.type === 'block-delta' &&
      last.index === delta.index &&
      isTextAlone(last) &&
      isTextAlone(delta) &&
      last.text !== undefined &&
      delta.text !== undefined
    )
      this.#events[this.#events.length - 1] = { ...last, text: last.text + delta.text };
    else this.#events.push(delta);
  }
}

/** Pictures and what tools found come whole. */
function charsOf(block: Block): number {
  if ('text' in block) return block.text.length;
  if ('input' in block) return block.input.length;
  return JSON.stringify(block).length;
}

type Delta = Extract<GenerationEvent, { type: 'block-delta' }>;

function isTextAlone({ signature, value, extra }: Delta): boolean {
  return signature === undefined && value === undefined && extra === undefined;
}

export function serializeCachedResponse(answer: Omit<CachedResponse, 'version'>): string {
  return JSON.stringify({ version: VERSION, ...answer } satisfies CachedResponse);
}

/** @param text that `serializeCachedResponse` made, of this or another version */
export function parseCachedResponse(text: string): CachedResponse | undefined {
  const kept: CachedResponse = hasFragileNumbers(text) ? JSON.parse(text, keepNumber) : JSON.parse(text);
  return kept.version === VERSION ? kept : undefined;
}
