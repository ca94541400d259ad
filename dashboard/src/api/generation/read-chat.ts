import { isRecord } from '../errors.ts';
import type { ChatResponse, ReadEvent } from './response.ts';
import { addToCall, failureOf, readUsage, recordOf, textOf, withUpstream } from './values.ts';

/** A chunk of `/chat/completions`. */
export const readChatEvent: ReadEvent = (event, before) => {
  if (isRecord(event['error'])) throw failureOf(event['error']);
  const [first] = Array.isArray(event['choices']) ? event['choices'] : [];
  const choice = recordOf(first);
  const delta = recordOf(choice['delta']);
  return {
    id: textOf(event['id']) ?? before.id,
    model: textOf(event['model']) ?? before.model,
    provider: textOf(event['provider']) ?? before.provider,
    text: before.text + (textOf(delta['content']) ?? ''),
    reasoning: before.reasoning + (textOf(delta['reasoning']) ?? textOf(delta['reasoning_content']) ?? ''),
    toolCalls: addCalls(before.toolCalls, delta['tool_calls']),
    finish: textOf(choice['finish_reason']) ?? before.finish,
    usage: readUsage(event['usage'], 'prompt_tokens', 'completion_tokens') ?? before.usage,
    metadata: event['service_metadata'] ?? before.metadata,
    images: [...before.images, ...imagesOf(delta['images'])],
    upstream: withUpstream(before, event),
  };
};

/** Calls come in pieces: each names its place in the list. */
function addCalls(before: ChatResponse['toolCalls'], pieces: unknown): ChatResponse['toolCalls'] {
  if (!Array.isArray(pieces)) return before;
  return pieces.filter(isRecord).reduce((calls: ChatResponse['toolCalls'], piece) => {
    const part = recordOf(piece['function']);
    return addToCall(calls, typeof piece['index'] === 'number' ? piece['index'] : calls.length, {
      id: textOf(piece['id']),
      name: textOf(part['name']),
      text: textOf(part['arguments']),
    });
  }, before);
}

function imagesOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter(isRecord)
    .flatMap(({ image_url: image }) => (isRecord(image) ? (textOf(image['url']) ?? []) : []));
}
