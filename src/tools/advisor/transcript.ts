import type { Block } from '../../canonical/blocks.ts';
import type { Turn } from '../../canonical/request.ts';
import { unreachable } from '../../lib/assert.ts';
import { truncateAtWord } from '../../lib/text/truncate.ts';

/** Of the result of one call: the advisor is to know what happened, not to read all that was read. */
const RESULT_CHARS_MAX = 20_000;

/**
 * The conversation as another model reads it. That model has none of the tools, and no vendor accepts calls of unknown
 * tools, so they become text. What only the first model can read is left out.
 */
export function asTranscript(turns: readonly Turn[]): readonly Turn[] {
  const names = new Map<string, string>();
  return turns.flatMap(({ role, blocks, ...turn }): readonly Turn[] => {
    const described = blocks.flatMap((block) => describeBlock(block, role, names));
    if (described.length === 0) return [];
    const { plain: _plain, ...rest } = turn;
    return [{ ...rest, role: role === 'tool' ? 'user' : role, blocks: described }];
  });
}

function describeBlock(block: Block, role: Turn['role'], names: Map<string, string>): readonly Block[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [block];
    case 'refusal':
      return [textBlock(block.text)];
    case 'media':
      // Of an assistant most vendors take none.
      return role === 'assistant' ? [] : [block];
    case 'tool-call':
      names.set(block.id, block.name);
      return [textBlock(`[The assistant called ${block.name} with ${block.input === '' ? '{}' : block.input}]`)];
    case 'tool-result': {
      const text = block.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      const name = names.get(block.callId) ?? 'a tool';
      return [textBlock(`[${name} gave] ${truncateAtWord(text, RESULT_CHARS_MAX)}`)];
    }
    case 'reasoning':
    case 'opaque':
      return [];
    default:
      return unreachable(block);
  }
}

function textBlock(text: string): Block {
  return { type: 'text', text };
}
