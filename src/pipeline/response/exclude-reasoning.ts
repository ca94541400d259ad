import type { EventBatch, GenerationEvent } from '../../canonical/events.ts';

/**
 * Takes reasoning out of an answer and closes the gaps in the block indexes. Holds the state of one answer.
 * @spec chat-response-17
 */
export function createReasoningExclusion(): (batch: EventBatch) => EventBatch {
  /** Where each block went; -1 for one that was taken out. */
  const moved: number[] = [];
  let next = 0;

  function place(event: GenerationEvent): GenerationEvent | undefined {
    if (event.type === 'block-start') moved[event.index] = event.block.type === 'reasoning' ? -1 : next++;
    if (!('index' in event) || event.index < 0) return event;
    const index = moved[event.index] ?? -1;
    if (index < 0) return undefined;
    if (index === event.index) return event;
    // The frame tells the old index, so it cannot be written again.
    return event.type === 'block-delta' ? { ...event, index, frame: undefined } : { ...event, index };
  }

  return (batch) => batch.flatMap((event) => place(event) ?? []);
}
