import type { Block } from '../../canonical/blocks.ts';
import type { Turn } from '../../canonical/request.ts';
import { unreachable } from '../../lib/assert.ts';
import { cutAtWord } from '../../lib/cut-text.ts';

/** Of the result of one call: the advisor is to know what happened, not to read all that was read. */
const RESULT_CHARS_MAX = 20_000;

/**
 * The conversation as another model reads it. That one has none of the tools, and no vendor takes calls of tools that are
 * not there: they are told in words. What only the first model can read is left out.
 */
export function asTranscript(turns: readonly Turn[]): readonly Turn[] {
  const names = new Map<string, string>();
  return turns.flatMap(({ role, blocks, ...turn }): readonly Turn[] => {
    const told = blocks.flatMap((block) => tell(block, role, names));
    if (told.length === 0) return [];
    const { plain: _plain, ...rest } = turn;
    return [{ ...rest, role: role === 'tool' ? 'user' : role, blocks: told }];
  });
}

function tell(block: Block, role: Turn['role'], names: Map<string, string>): readonly Block[] {
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
      return [textBlock(`[${name} gave] ${cutAtWord(text, RESULT_CHARS_MAX)}`)];
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
