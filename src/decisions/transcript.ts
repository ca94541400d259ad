import type { Block, MediaBlock } from '../canonical/blocks.ts';
import type { Turn } from '../canonical/request.ts';
import { cutMiddle } from './fit-state.ts';

const TURN_CHARS_MAX = 5_000;
const CUT = '...[truncated]';
const TRANSCRIPT_CHARS_MAX = 60_000;

/**
 * A conversation as a judge or a classifier reads it: roles in capitals, and media by their kind alone.
 * @param tools `names`: tools are named where they were called; `results`: what they returned stands there, too
 */
export function transcriptOf(turns: readonly Turn[], tools: 'names' | 'results'): string {
  const names = new Map(
    turns.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'tool-call' ? [[block.id, block.name] as const] : [])),
    ),
  );
  const said = turns.flatMap(({ role, blocks }) => {
    const text = blocks
      .map((block) => textOf(block, tools, names))
      .filter((part) => part !== '')
      .join('\n');
    return text === '' ? [] : [`${role.toUpperCase()}: ${cut(text)}`];
  });
  return cutMiddle(said.join('\n\n'), TRANSCRIPT_CHARS_MAX);
}

function textOf(block: Block, tools: 'names' | 'results', names: ReadonlyMap<string, string>): string {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text;
    case 'media':
      return mediaOf(block, tools, names);
    case 'tool-call':
      return `[tool: ${block.name}]`;
    case 'tool-result': {
      if (tools === 'names') return '';
      const text = block.content.map((inner) => textOf(inner, tools, names)).join('\n');
      return `[result of ${names.get(block.callId) ?? 'a tool'}] ${text}`;
    }
    // What a model thought is not said, and what only one format knows may be anything.
    case 'reasoning':
    case 'opaque':
      return '';
    default:
      return '';
  }
}

function mediaOf(
  { media, source }: MediaBlock,
  tools: 'names' | 'results',
  names: ReadonlyMap<string, string>,
): string {
  if (source.type === 'text') return source.text;
  if (source.type === 'blocks') return source.blocks.map((block) => textOf(block, tools, names)).join('\n');
  return `[${media}]`;
}

function cut(text: string): string {
  return text.length <= TURN_CHARS_MAX ? text : `${text.slice(0, TURN_CHARS_MAX).toWellFormed()}${CUT}`;
}
