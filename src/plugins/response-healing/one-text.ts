import type { Citation } from '../../canonical/blocks.ts';
import type { BlockStartEvent, CitationEvent, EventBatch, GenerationEvent } from '../../canonical/events.ts';

/** All text of blocks that start among these events. */
export function textOf(events: EventBatch): string {
  const texts = new Set<number>();
  let all = '';
  for (const event of events)
    if (event.type === 'block-start' && event.block.type === 'text') {
      texts.add(event.index);
      all += event.block.text;
    } else if (event.type === 'block-delta' && texts.has(event.index)) all += event.text ?? '';
  return all;
}

/**
 * The events of an answer, or of the rest of it, with this text and no other: in the block that is open, or else in the
 * first of text. Log probabilities stay what the model gave; where a source belongs in the text is not known any more.
 * @param open the index of a block of text that started before these events
 */
export function withOneText(events: EventBatch, text: string, open: number | undefined): EventBatch {
  const left = new Set<number>();
  const moved = new Map<number, number>();
  const kept: GenerationEvent[] = open === undefined || text === '' ? [] : [{ type: 'block-delta', index: open, text }];
  let target = open;

  function start(event: BlockStartEvent): void {
    const { index, block } = event;
    if (block.type === 'text' && target !== undefined) {
      left.add(index);
      return;
    }
    const to = index - left.size;
    moved.set(index, to);
    if (block.type !== 'text') kept.push({ ...event, index: to });
    else {
      target = index;
      const citations = block.citations?.map(withoutPlace);
      kept.push({ ...event, index: to, block: { ...block, text: '', ...(citations !== undefined && { citations }) } });
      kept.push({ type: 'block-delta', index: to, text });
    }
  }

  for (const event of events) {
    if (event.type === 'block-start') start(event);
    else if (event.type === 'citation') kept.push(moveCitation(event, left, moved));
    else if (!('index' in event)) kept.push(event);
    else if (!left.has(event.index)) {
      const index = moved.get(event.index) ?? event.index;
      if (event.type === 'block-end') kept.push({ ...event, index });
      else if (event.index !== target) kept.push({ ...event, index, frame: undefined });
      else if (event.extra !== undefined) kept.push({ type: 'block-delta', index, text: '', extra: event.extra });
    }
  }
  return kept;
}

function moveCitation(
  { index, citation }: CitationEvent,
  left: ReadonlySet<number>,
  moved: ReadonlyMap<number, number>,
): CitationEvent {
  const to = left.has(index) ? -1 : (moved.get(index) ?? index);
  return { type: 'citation', index: to, citation: withoutPlace(citation) };
}

function withoutPlace(citation: Citation): Citation {
  if (citation.type !== 'url') return citation;
  const { start: _start, end: _end, ...rest } = citation;
  return rest;
}
