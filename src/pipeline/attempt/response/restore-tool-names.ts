import type { EventBatch } from '../../../canonical/events.ts';

/**
 * Gives tool calls back the names that the caller knows, where the upstream's format allowed only others.
 * @param toolNames from the upstream's name to the caller's
 */
export function restoreToolNames(batch: EventBatch, toolNames: ReadonlyMap<string, string> | undefined): EventBatch {
  if (toolNames === undefined || toolNames.size === 0) return batch;
  return batch.map((event) => {
    if (event.type !== 'block-start' || event.block.type !== 'tool-call') return event;
    const name = toolNames.get(event.block.name);
    return name === undefined ? event : { ...event, block: { ...event.block, name } };
  });
}
