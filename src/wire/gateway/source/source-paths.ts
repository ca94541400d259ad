import type { Block } from '../../../canonical/blocks.ts';
import type { ClientFormatId } from '../../../canonical/extra.ts';
import type { GenerationRequest, Turn } from '../../../canonical/request.ts';

/** Where the instructions of the messages format stand. */
const SYSTEM = 'system';
/** Where the instructions of a preset stand, for the caller. */
const PRESET = 'preset';

/** The member of the caller's body that holds the conversation. */
export function pathOfConversation(format: ClientFormatId): string {
  return format === 'responses' ? 'input' : 'messages';
}

/**
 * Where each turn stood in the caller's body: `messages[3]`, or `system`, which the messages format has beside its
 * messages, or `preset`. A turn that is made of several items has the path of the first.
 */
export function pathsOfTurns({ format, turns }: Pick<GenerationRequest, 'format' | 'turns'>): readonly string[] {
  const apart = turns[0]?.ofPreset === true || (format === 'messages' && isApart(turns[0])) ? 1 : 0;
  const first = turns[0]?.ofPreset === true ? PRESET : SYSTEM;
  return turns.map(({ source }, index) => {
    if (source !== undefined) return source.path;
    if (index < apart) return first;
    // What a plugin has added stands nowhere.
    return format === 'responses' ? pathOfConversation(format) : `messages[${index - apart}]`;
  });
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
  const { source, blocks } = turn;
  // A plugin that adds or removes blocks leaves the paths of the others behind.
  if (source !== undefined) return source.blocks.length === blocks.length ? source.blocks : blocks.map(() => path);
  if (format === 'responses') return blocks.map(() => path);
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

/** The content of a result of a call. @param path of the result */
export function pathOfResultContent(format: ClientFormatId, path: string): string {
  return `${path}.${format === 'responses' ? 'output' : 'content'}`;
}

/** Where the sources of a text stood. Those of a chat message stand together, whichever text they belong to. */
export function pathOfCitations(format: ClientFormatId, textPath: string): string {
  if (format === 'chat') return textPath.replace(/\.content(?:\[\d+\])?$/, '.annotations');
  return `${textPath}.${format === 'responses' ? 'annotations' : 'citations'}`;
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

/** The same for callers of the responses format. */
const NAMES_IN_RESPONSES: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['verbosity', 'text.verbosity'],
  ['response_format', 'text.format'],
  ['logprobs', 'top_logprobs'],
  ['messages', 'input'],
]);

const NAMES: Readonly<Record<ClientFormatId, ReadonlyMap<string, string>>> = {
  chat: new Map(),
  messages: NAMES_IN_MESSAGES,
  responses: NAMES_IN_RESPONSES,
};

/** Where a setting stood in the caller's body. @param path as callers of chat would write it */
export function pathOfSetting(format: ClientFormatId, path: string): string {
  return NAMES[format].get(path) ?? path;
}
