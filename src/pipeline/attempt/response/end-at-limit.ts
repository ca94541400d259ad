import type { EventBatch, GenerationEvent } from '../../../canonical/events.ts';
import { isLengthError } from '../../../canonical/gateway-error.ts';
import { isContent } from './is-content.ts';

/**
 * Follows one response. Where some of it has come, an error that says that there is no room for more is a plain end at the
 * limit; without any output it stays an error. @spec translate-29

 */
export class LimitEnding {
  /** Blocks that stand open: nearly always one, or none. */
  readonly #open: number[] = [];
  #begun = false;

  end(batch: EventBatch): EventBatch {
    for (const event of batch) {
      if (event.type === 'block-start') this.#open.push(event.index);
      else if (event.type === 'block-end' && this.#open.includes(event.index))
        this.#open.splice(this.#open.indexOf(event.index), 1);
      if (!this.#begun) this.#begun = isContent(event);
    }
    const last = batch.at(-1);
    if (!this.#begun || last?.type !== 'failed' || !isLengthError(last.failure.errorType)) return batch;
    const ends = this.#open.map((index): GenerationEvent => ({ type: 'block-end', index }));
    return [...batch.slice(0, -1), ...ends, { type: 'end', finish: 'length' }];
  }
}
