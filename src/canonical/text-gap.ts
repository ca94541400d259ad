import type { Block, ReasoningBlock, TextBlock } from './blocks.ts';
import type { FormatId } from './extra.ts';

const GAP = '\n\n';

/**
 * What stands between two texts of a response that become one here. Texts with something between them were said one after
 * the other (before and after a search); neighbours are one text in pieces, as vendors cut it to cite. The chat format has
 * one text, whose pieces are joined as they came, unless one stands apart. @spec tool-19
 * @param stated characters of text so far
 */
export function gapBeforeText(
  format: FormatId | undefined,
  previous: Block | undefined,
  stated: number,
  { apart }: Pick<TextBlock, 'apart'> = {},
): string {
  if (stated === 0) return '';
  return apart === true || (format !== 'chat' && previous?.type !== 'text') ? GAP : '';
}

/**
 * What stands between two readable forms of reasoning that become one text here. Each summary is a section with a heading
 * of its own, so that two in a row would run together; other reasoning is one text in pieces.
 * @param previous the last with any text, whatever else came after it
 */
export function gapBeforeReasoning(
  format: FormatId | undefined,
  previous: ReasoningBlock['form'] | undefined,
  form: ReasoningBlock['form'],
): string {
  return format !== 'chat' && form === 'summary' && previous === 'summary' ? GAP : '';
}

/** Readable reasoning as one text. */
export function joinReasoning(format: FormatId | undefined, blocks: readonly Block[]): string {
  let text = '';
  let previous: ReasoningBlock['form'] | undefined;
  for (const block of blocks) {
    if (block.type !== 'reasoning' || block.form === 'encrypted' || block.text === '') continue;
    text += gapBeforeReasoning(format, previous, block.form) + block.text;
    previous = block.form;
  }
  return text;
}

/** The text of a response, and where each of its text blocks begins in it. */
export function joinResponseText(
  format: FormatId | undefined,
  blocks: readonly Block[],
): { readonly text: string; readonly starts: ReadonlyMap<Block, number> } {
  const starts = new Map<Block, number>();
  let text = '';
  for (const [index, block] of blocks.entries()) {
    if (block.type !== 'text') continue;
    if (block.text !== '') text += gapBeforeText(format, blocks[index - 1], text.length, block);
    starts.set(block, text.length);
    text += block.text;
  }
  return { text, starts };
}
