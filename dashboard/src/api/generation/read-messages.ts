import { isRecord } from '../errors.ts';
import type { ChatResponse, ReadEvent, StreamEvent } from './response.ts';
import { addToCall, failureOf, readUsage, recordOf, textOf } from './values.ts';

/** Reasons to stop by their names in chat, which the page shows. */
const FINISHES: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
};

/** An event of `/messages`. */
export const readMessagesEvent: ReadEvent = (event, before) => {
  switch (event['type']) {
    case 'error':
      throw failureOf(event['error']);
    case 'message_start': {
      const message = recordOf(event['message']);
      return {
        id: textOf(message['id']) ?? before.id,
        model: textOf(message['model']) ?? before.model,
        provider: textOf(message['provider']) ?? before.provider,
      };
    }
    case 'content_block_start':
      return readBlock(recordOf(event['content_block']), before);
    case 'content_block_delta':
      return readDelta(recordOf(event['delta']), before);
    case 'message_delta': {
      const reason = textOf(recordOf(event['delta'])['stop_reason']);
      return {
        usage: readUsage(event['usage'], 'input_tokens', 'output_tokens') ?? before.usage,
        finish: reason === undefined ? before.finish : (FINISHES[reason] ?? reason),
      };
    }
    case 'message_stop':
      return { metadata: event['service_metadata'] ?? before.metadata };
    default:
      return {};
  }
};

function readBlock(block: StreamEvent, before: ChatResponse): Partial<ChatResponse> {
  if (block['type'] === 'tool_use')
    return {
      toolCalls: addToCall(before.toolCalls, before.toolCalls.length, {
        id: textOf(block['id']),
        name: textOf(block['name']),
      }),
    };
  if (block['type'] === 'image' && isRecord(block['source']))
    return { images: [...before.images, ...addressOf(block['source'])] };
  return { text: before.text + (block['type'] === 'text' ? (textOf(block['text']) ?? '') : '') };
}

/** The blocks of a stream follow each other: a piece of arguments is of the last call. */
function readDelta(delta: StreamEvent, before: ChatResponse): Partial<ChatResponse> {
  switch (delta['type']) {
    case 'text_delta':
      return { text: before.text + (textOf(delta['text']) ?? '') };
    case 'thinking_delta':
      return { reasoning: before.reasoning + (textOf(delta['thinking']) ?? '') };
    case 'input_json_delta':
      return before.toolCalls.length === 0
        ? {}
        : {
            toolCalls: addToCall(before.toolCalls, before.toolCalls.length - 1, {
              text: textOf(delta['partial_json']),
            }),
          };
    default:
      return {};
  }
}

function addressOf({ url, data, media_type: type }: StreamEvent): readonly string[] {
  if (typeof url === 'string') return [url];
  return typeof data === 'string' && typeof type === 'string' ? [`data:${type};base64,${data}`] : [];
}
