import type { Block } from '../../canonical/blocks.ts';
import type { Turn } from '../../canonical/request.ts';

/** Of one result of a tool, UTF-16 units: what was looked up is context, not the question. */
const RESULT_CHARS_MAX = 20_000;

const SPEAKERS: Readonly<Record<Turn['role'], string>> = {
  system: 'Instructions',
  developer: 'Instructions',
  user: 'User',
  assistant: 'Assistant',
  tool: 'Tool',
};

/**
 * A conversation as text for models that were not part of it. A single message of the user stands as it is.
 * @spec fusion-7
 */
export function formatTranscript(turns: readonly Turn[]): string {
  const spoken = turns.map((turn) => ({ turn, text: textOf(turn.blocks) })).filter(({ text }) => text !== '');
  const [only] = spoken;
  if (spoken.length === 1 && only?.turn.role === 'user') return only.text;
  return spoken.map(({ turn, text }) => `${SPEAKERS[turn.role]}:\n${text}`).join('\n\n');
}

function textOf(blocks: readonly Block[]): string {
  return blocks
    .map(formatBlock)
    .filter((text) => text !== '')
    .join('\n');
}

function formatBlock(block: Block): string {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text;
    case 'media':
      return `[${block.media}${block.name === undefined ? '' : `: ${block.name}`}]`;
    case 'tool-call':
      return `[calls ${block.name} with ${block.input === '' ? '{}' : block.input}]`;
    case 'tool-result':
      return `[result: ${cut(textOf(block.content))}]`;
    case 'opaque':
      return block.plainText ?? '';
    case 'reasoning':
    default:
      return '';
  }
}

function cut(text: string): string {
  return text.length <= RESULT_CHARS_MAX ? text : `${text.slice(0, RESULT_CHARS_MAX)}...`;
}
