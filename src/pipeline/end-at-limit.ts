import type { EventBatch, GenerationEvent } from '../canonical/events.ts';
import { isLengthError } from '../canonical/length-error.ts';
import { isContent } from './is-content.ts';

/**
 * Follows one answer. Where some of it has come, an error that says that there is no room for more is a plain end at the
 * limit; without any output it stays an error. @source generation.md 8.3
 */
export function createLimitEnding(): (batch: EventBatch) => EventBatch {
  // Blocks that stand open: nearly always one, or none.
  const open: number[] = [];
  let begun = false;
  return (batch) => {
    for (const event of batch) {
      if (event.type === 'block-start') open.push(event.index);
      else if (event.type === 'block-end' && open.includes(event.index)) open.splice(open.indexOf(event.index), 1);
      begun ||= isContent(event);
    }
    const last = batch.at(-1);
    if (!begun || last?.type !== 'failed' || !isLengthError(last.failure.errorType)) return batch;
    const ends = open.map((index): GenerationEvent => ({ type: 'block-end', index }));
    return [...batch.slice(0, -1), ...ends, { type: 'end', finish: 'length' }];
  };
}
