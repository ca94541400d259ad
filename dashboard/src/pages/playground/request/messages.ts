import { isRecord } from '../../../api/errors.ts';
import type { ChatMessage } from '../../../api/generation/response.ts';
import { imagesOfContent, textOfContent } from './content.ts';

type Block = Readonly<Record<string, unknown>>;

/** A conversation as `/messages` has it: calls and their results are blocks, and the results of one turn are one message. */
export function toMessagesTurns(messages: readonly ChatMessage[]): readonly Block[] {
  const turns: { readonly role: 'user' | 'assistant'; readonly content: Block[]; readonly isResults: boolean }[] = [];
  for (const message of messages) {
    const isResults = message.role === 'tool';
    const last = turns.at(-1);
    if (isResults && last?.isResults === true) last.content.push(...toBlocks(message));
    else
      turns.push({ role: message.role === 'assistant' ? 'assistant' : 'user', content: toBlocks(message), isResults });
  }
  return turns.map(({ role, content }) => ({ role, content: toContent(content) }));
}

/** A text alone is no list of blocks. */
function toContent(blocks: readonly Block[]): unknown {
  const [first] = blocks;
  return blocks.length === 1 && first?.['type'] === 'text' ? first['text'] : blocks;
}

function toBlocks({ role, content, tool_calls: calls = [], tool_call_id: id }: ChatMessage): Block[] {
  const text = textOfContent(content);
  if (role === 'tool') return [{ type: 'tool_result', tool_use_id: id, content: text }];
  return [
    ...imagesOfContent(content).map((url) => ({ type: 'image', source: toSource(url) })),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map((call) => ({
      type: 'tool_use',
      id: call.id,
      name: call.function.name,
      input: parseArguments(call.function.arguments),
    })),
  ];
}

function toSource(url: string): Block {
  const [, type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
  return data === undefined ? { type: 'url', url } : { type: 'base64', media_type: type, data };
}

/** Arguments that a model wrote, which need be no JSON. */
function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Functions under the names of `/messages`; other tools stand as they are. */
export function toMessagesTools(tools: readonly unknown[]): readonly unknown[] {
  return tools.map((tool) => {
    const part = isRecord(tool) && tool['type'] === 'function' ? tool['function'] : undefined;
    if (!isRecord(part)) return tool;
    const { name, description, parameters } = part;
    return { name, ...(description !== undefined && { description }), input_schema: parameters ?? { type: 'object' } };
  });
}
