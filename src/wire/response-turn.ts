import type { Block } from '../canonical/blocks.ts';
import type { Turn } from '../canonical/request.ts';

/**
 * What a model answered as a turn of the conversation, for the model itself: its reasoning with every signature, its text,
 * its calls under its own ids. What stood around the message in the chat format is no part of it.
 */
export function responseAsTurn(blocks: readonly Block[]): Turn {
  const visible = blocks.filter(hasContent).map(withoutSurroundings);
  const isPlain = visible.filter(({ type }) => type === 'text').length === 1;
  return { role: 'assistant', blocks: visible, ...(isPlain && { plain: true }) };
}

/** Vendors refuse blocks that are empty, but for reasoning whose display was left out. */
function hasContent(block: Block): boolean {
  if (block.type === 'text' || block.type === 'refusal') return block.text.trim() !== '';
  return block.type !== 'reasoning' || block.text !== '' || block.signature !== undefined;
}

function withoutSurroundings(block: Block): Block {
  const { extra } = block;
  if (extra?.format !== 'chat' || extra.fields['choices'] === undefined) return block;
  const { choices: _around, ...fields } = extra.fields;
  const { extra: _extra, ...bare } = block;
  return Object.keys(fields).length === 0 ? bare : { ...bare, extra: { ...extra, fields } };
}
