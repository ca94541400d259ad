import type { GenerationEvent } from '../../../canonical/events.ts';

/** Whether an event shows the caller anything: from it on, only this answer counts. */
export function isContent(event: GenerationEvent): boolean {
  if (event.type === 'block-delta') return event.text !== '' || event.value !== undefined;
  if (event.type !== 'block-start') return false;
  const { block } = event;
  const mayBeEmpty = block.type === 'text' || block.type === 'refusal' || block.type === 'reasoning';
  return !mayBeEmpty || block.text !== '';
}
