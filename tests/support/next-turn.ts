import type { ChatOrMessages } from './chat-or-messages.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { listOf, objectOf, type Reported } from './reported.ts';

/** Functions by name, as a caller of each format declares them. */
export function toolsOf(caller: ChatOrMessages, ...names: readonly string[]): readonly JsonObject[] {
  const parameters = { type: 'object', properties: { at: { type: 'string' } } };
  return names.map((name) =>
    caller === 'chat' ? { type: 'function', function: { name, parameters } } : { name, input_schema: parameters },
  );
}

/** What a client keeps of an answer when it keeps everything. */
export function messageOf(caller: ChatOrMessages, { message, calls }: Reported): JsonObject {
  if (caller === 'messages') return { role: 'assistant', content: message['content'] };
  const { native_finish_reason: _native, logprobs: _logprobs, tool_calls: kept, ...rest } = message;
  const written = calls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  return { ...rest, ...(written.length > 0 && { tool_calls: kept ?? written }) };
}

/** What a client keeps of an answer when it knows nothing but texts and calls. */
export function strippedMessageOf(caller: ChatOrMessages, reported: Reported): JsonObject {
  if (caller === 'messages') {
    const content = listOf(reported.message['content']).map((block) => objectOf(block));
    const known = content.filter(({ type }) => type === 'text' || type === 'tool_use');
    return {
      role: 'assistant',
      content: known.map(({ type, text, id, name, input }) =>
        type === 'text' ? { type, text } : { type, id, name, input },
      ),
    };
  }
  const { tool_calls: calls } = messageOf('chat', { ...reported, message: {} });
  return {
    role: 'assistant',
    content: reported.text === '' ? null : reported.text,
    ...(calls && { tool_calls: calls }),
  };
}

/** The results of an answer's calls, as the caller's next messages. */
export function resultsFor(caller: ChatOrMessages, { calls }: Reported, result = 'seen'): readonly JsonObject[] {
  if (caller === 'chat') return calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: result }));
  return [
    { role: 'user', content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: result })) },
  ];
}
