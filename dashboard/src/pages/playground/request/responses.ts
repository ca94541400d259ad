import { isRecord } from '../../../api/errors.ts';
import type { ChatMessage } from '../../../api/generation/response.ts';
import { imagesOfContent, textOfContent } from './content.ts';

type Item = Readonly<Record<string, unknown>>;

/** A conversation as `/responses` has it: calls and their results are items of their own. */
export function toResponsesInput(messages: readonly ChatMessage[]): readonly Item[] {
  return messages.flatMap(toItems);
}

function toItems({ role, content, tool_calls: calls = [], tool_call_id: id }: ChatMessage): readonly Item[] {
  const [text, images] = [textOfContent(content), imagesOfContent(content)];
  if (role === 'tool') return [{ type: 'function_call_output', call_id: id, output: text }];
  const parts =
    images.length === 0
      ? text
      : [{ type: 'input_text', text }, ...images.map((url) => ({ type: 'input_image', image_url: url }))];
  return [
    ...(text === '' && images.length === 0 ? [] : [{ role, content: parts }]),
    ...calls.map(({ id: callId, function: { name, arguments: args } }) => ({
      type: 'function_call',
      call_id: callId,
      name,
      arguments: args,
    })),
  ];
}

/** Functions without the level between; other tools stand as they are. */
export function toResponsesTools(tools: readonly unknown[]): readonly unknown[] {
  return tools.map((tool) => {
    if (!isRecord(tool) || tool['type'] !== 'function' || !isRecord(tool['function'])) return tool;
    return { type: 'function', ...tool['function'] };
  });
}
