import { isRecord } from '../errors.ts';
import type { ChatResponse, ReadEvent, StreamEvent } from './response.ts';
import { addToCall, failureOf, readUsage, recordOf, textOf, withUpstream } from './values.ts';

/** An event of `/responses`. */
export const readResponsesEvent: ReadEvent = (event, before) => {
  const piece = textOf(event['delta']) ?? '';
  switch (event['type']) {
    case 'error':
    case 'response.error':
      throw failureOf(event['error'] ?? event);
    case 'response.debug':
      return { upstream: withUpstream(before, event) };
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return { text: before.text + piece };
    case 'response.reasoning_text.delta':
    case 'response.reasoning_summary_text.delta':
      return { reasoning: before.reasoning + piece };
    case 'response.output_item.added':
      return readItem(recordOf(event['item']), before);
    case 'response.function_call_arguments.delta':
      return before.toolCalls.length === 0
        ? {}
        : { toolCalls: addToCall(before.toolCalls, before.toolCalls.length - 1, { text: piece }) };
    case 'response.output_item.done':
      return readPicture(recordOf(event['item']), before);
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      return readEnd(recordOf(event['response']), before);
    default:
      return {};
  }
};

function readItem(item: StreamEvent, before: ChatResponse): Partial<ChatResponse> {
  if (item['type'] !== 'function_call') return {};
  return {
    toolCalls: addToCall(before.toolCalls, before.toolCalls.length, {
      id: textOf(item['call_id']),
      name: textOf(item['name']),
    }),
  };
}

function readPicture(item: StreamEvent, before: ChatResponse): Partial<ChatResponse> {
  const data = item['type'] === 'image_generation_call' ? textOf(item['result']) : undefined;
  if (data === undefined) return {};
  return { images: [...before.images, data.startsWith('data:') ? data : `data:image/png;base64,${data}`] };
}

function readEnd(response: StreamEvent, before: ChatResponse): Partial<ChatResponse> {
  if (isRecord(response['error'])) throw failureOf(response['error']);
  const reason = textOf(recordOf(response['incomplete_details'])['reason']);
  return {
    model: textOf(response['model']) ?? before.model,
    provider: textOf(response['provider']) ?? before.provider,
    usage: readUsage(response['usage'], 'input_tokens', 'output_tokens') ?? before.usage,
    metadata: response['service_metadata'] ?? before.metadata,
    finish:
      reason === 'max_output_tokens' ? 'length' : (reason ?? (before.toolCalls.length > 0 ? 'tool_calls' : 'stop')),
  };
}
