import type { Block } from '../canonical/blocks.ts';
import type { ClientFormatId } from '../canonical/extra.ts';
import type { GenerationRequest, Turn } from '../canonical/request.ts';

/** Where the instructions of the messages format stand. */
const SYSTEM = 'system';
/** Where the instructions of a preset stand, for the caller. */
const PRESET = 'preset';

/**
 * Where each turn stood in the caller's body: `messages[3]`, or `system`, which the messages format has beside its
 * messages, or `preset`.
 */
export function pathsOfTurns({ format, turns }: Pick<GenerationRequest, 'format' | 'turns'>): readonly string[] {
  const apart = turns[0]?.ofPreset === true || (format === 'messages' && isApart(turns[0])) ? 1 : 0;
  const first = turns[0]?.ofPreset === true ? PRESET : SYSTEM;
  return turns.map((_turn, index) => (index < apart ? first : `messages[${index - apart}]`));
}

function isApart(turn: Turn | undefined): boolean {
  return turn?.role === 'system' && turn.inline !== true;
}

/**
 * Where each block of a turn stood in the caller's body: `messages[3].content[0]`, `messages[3].tool_calls[1]`. A chat
 * message spreads over several members what is one list of blocks here.
 * @param path of the turn
 */
export function pathsOfBlocks(format: ClientFormatId, turn: Turn, path: string): readonly string[] {
  // The result is the message itself.
  if (format === 'chat' && turn.role === 'tool') return turn.blocks.map(() => path);
  const content = path === SYSTEM ? SYSTEM : `${path}.content`;
  if (format === 'chat' && turn.role === 'assistant') return pathsOfAssistant(turn, path, content);
  return pathsOfContent(turn.blocks, turn.plain, content);
}

/** Where each block of a list of content stood; one bare string has no index. */
export function pathsOfContent(blocks: readonly Block[], plain: true | undefined, content: string): readonly string[] {
  return plain === true ? blocks.map(() => content) : blocks.map((_block, index) => `${content}[${index}]`);
}

/** Where the sources of a text stood. Those of a chat message stand together, whichever text they belong to. */
export function pathOfCitations(format: ClientFormatId, textPath: string): string {
  return format === 'chat' ? textPath.replace(/\.content(?:\[\d+\])?$/, '.annotations') : `${textPath}.citations`;
}

function pathsOfAssistant({ blocks, plain }: Turn, path: string, content: string): readonly string[] {
  const seen = new Map<string, number>();
  return blocks.map((block) => {
    const member = memberOf(block);
    if (member === 'refusal' || member === 'audio' || member === 'reasoning' || member === 'reasoning_content')
      return `${path}.${member}`;
    if (member === 'content' && plain === true) return content;
    const index = seen.get(member) ?? 0;
    seen.set(member, index + 1);
    return `${path}.${member}[${index}]`;
  });
}

/** The member of an assistant's chat message that a block was read from. */
function memberOf(block: Block): string {
  switch (block.type) {
    case 'reasoning':
      return block.carrier ?? 'reasoning_details';
    case 'opaque':
      return 'reasoning_details';
    case 'refusal':
      return block.part === true ? 'content' : 'refusal';
    case 'tool-call':
      return 'tool_calls';
    case 'media': {
      const fields = block.extra?.fields ?? {};
      return ['images', 'audio'].find((member) => fields[member] !== undefined) ?? 'content';
    }
    case 'text':
    case 'tool-result':
    default:
      return 'content';
  }
}

/** Where the function of a tool stood in the caller's body. */
export function pathOfFunction(format: ClientFormatId, index: number): string {
  return format === 'chat' ? `tools[${index}].function` : `tools[${index}]`;
}

/** Settings that callers of the messages format know by other names than those of chat. @spec messages-7 */
const NAMES_IN_MESSAGES: ReadonlyMap<string, string> = new Map([
  ['stop', 'stop_sequences'],
  ['reasoning', 'thinking'],
  ['reasoning.max_tokens', 'thinking.budget_tokens'],
  ['verbosity', 'output_config.effort'],
  ['response_format', 'output_config.format'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
]);

/** Where a setting stood in the caller's body. @param path as callers of chat would write it */
export function pathOfSetting(format: ClientFormatId, path: string): string {
  return (format === 'messages' ? NAMES_IN_MESSAGES.get(path) : undefined) ?? path;
}
