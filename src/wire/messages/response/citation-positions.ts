import type { GenerationResponse } from '../../../canonical/response.ts';
import type { Block } from '../../../canonical/blocks.ts';
import { encodeCitation } from '../citations.ts';
import { encodingOf } from './block-encoding.ts';
import type { WireObject } from '../../json-fields.ts';

/** Sources of the whole response; further ones are lost. */
export const WHOLE_SOURCES_MAX = 1_000;

/** A source of the whole response stands on the text that was the last when it came, and on no other block. */
export function takesSources(latest: Block | undefined): boolean {
  return latest?.type === 'text';
}

/** The positions of a whole response's sources in this format. */
interface CitationPositions {
  /** By index of the text that each belongs to. */
  readonly onTexts: ReadonlyMap<number, readonly WireObject[]>;
  /** Those that came when something else stood behind their text already. */
  readonly late: readonly WireObject[];
}

/** The same places as in a stream, in which no block can be opened again. @param native the upstream spoke this format */
export function locateCitations({ blocks, citations }: GenerationResponse, native: boolean): CitationPositions {
  const onTexts = new Map<number, WireObject[]>();
  const late: WireObject[] = [];
  const isExpressible = citations.flatMap(({ citation, afterBlocks }) => {
    const encoded = encodeCitation(citation);
    return encoded === undefined ? [] : [{ encoded, afterBlocks }];
  });
  for (const { encoded, afterBlocks } of isExpressible.slice(0, WHOLE_SOURCES_MAX)) {
    const latest = blocks.findLastIndex((block, at) => at < afterBlocks && !isPassedBy(block, native));
    if (!takesSources(blocks[latest])) {
      late.push(encoded);
      continue;
    }
    const onText = onTexts.get(latest) ?? [];
    onText.push(encoded);
    onTexts.set(latest, onText);
  }
  return { onTexts, late };
}

/** Encrypted reasoning of another vendor stands before the text that it came behind. */
function isPassedBy(block: Block, native: boolean): boolean {
  const encoding = encodingOf(block, native);
  return encoding === 'silent' || (encoding === 'redacted' && !native);
}
