import type { Answer } from '../../canonical/answer.ts';
import type { Block } from '../../canonical/blocks.ts';
import { drawCitation } from './citations.ts';
import { drawingOf } from './drawing.ts';
import type { WireObject } from './wire-object.ts';

/** Sources of the whole answer; further ones are lost. */
export const WHOLE_SOURCES_MAX = 1_000;

/** A source of the whole answer stands on the text that was last said when it came, and on no other block. */
export function takesSources(latest: Block | undefined): boolean {
  return latest?.type === 'text';
}

/** Where the sources of a whole answer stand in it, as this format draws them. */
interface PlacedSources {
  /** By index of the text that each belongs to. */
  readonly onTexts: ReadonlyMap<number, readonly WireObject[]>;
  /** Those that came when something else stood behind their text already. */
  readonly late: readonly WireObject[];
}

/** The same places as in a stream, in which no block can be opened again. @param native the upstream spoke this format */
export function placeSources({ blocks, citations }: Answer, native: boolean): PlacedSources {
  const onTexts = new Map<number, WireObject[]>();
  const late: WireObject[] = [];
  const sayable = citations.flatMap(({ citation, afterBlocks }) => {
    const drawn = drawCitation(citation);
    return drawn === undefined ? [] : [{ drawn, afterBlocks }];
  });
  for (const { drawn, afterBlocks } of sayable.slice(0, WHOLE_SOURCES_MAX)) {
    const latest = blocks.findLastIndex((block, at) => at < afterBlocks && drawingOf(block, native) !== 'silent');
    if (!takesSources(blocks[latest])) {
      late.push(drawn);
      continue;
    }
    const onText = onTexts.get(latest) ?? [];
    onText.push(drawn);
    onTexts.set(latest, onText);
  }
  return { onTexts, late };
}
