import type { JsonObject } from '../../../src/lib/json.ts';
import {
  CHAT_HEAD,
  MESSAGE_HEAD,
  chatCall,
  chatChunk,
  chatUsage,
  cohereContent,
  cohereEvent,
  cohereUsage,
  converseBlock,
  converseEvents,
  converseUsage,
  frameConverse,
  geminiChunk,
  geminiPart,
  messagesBlock,
  messagesDeltas,
  messagesUsage,
  partsOf,
  responseOf,
  stopReason,
  textsOf,
  withRawInputs,
  type Spoken,
  type SpokenUsage,
} from './spoken.ts';
import { textOf } from '../reported.ts';
import { sse, type Arrived, type Script } from '../upstream.ts';

/** The formats of the suites that drive every format. A further one joins them by a row in each table of this type. */
export type SpokenFormat = 'chat' | 'messages' | 'responses' | 'gemini' | 'converse' | 'cohere';

/** The format of a request, by where it was sent. */
export function formatOfPath(path: string): SpokenFormat {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.includes('/messages')) return 'messages';
  if (path.endsWith('/responses')) return 'responses';
  if (/:(?:streamGenerateContent|generateContent)\b/.test(path)) return 'gemini';
  if (/\/converse(?:-stream)?$/.test(path)) return 'converse';
  if (path.endsWith('/chat')) return 'cohere';
  throw new Error(`no format has the path ${path}`);
}

/** Sends the response in the format of the request, streamed if the request says so. */
export function speak(spoken: Spoken): Script {
  return (arrived, response) => {
    const format = formatOfPath(arrived.path);
    const { type, body } = isStreamed(format, arrived) ? formatStream(format, spoken) : formatWhole(format, spoken);
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  };
}

interface FormattedAnswer {
  readonly type: string;
  readonly body: Buffer;
}

export function formatStream(format: SpokenFormat, spoken: Spoken): FormattedAnswer {
  if (format === 'converse')
    return { type: 'application/vnd.amazon.eventstream', body: frameConverse(converseEvents(spoken)) };
  const named = format !== 'chat' && format !== 'gemini';
  return { type: 'text/event-stream', body: withRawInputs(sse(STREAM[format](spoken), { named })) };
}

export function formatWhole(format: SpokenFormat, spoken: Spoken): FormattedAnswer {
  return { type: 'application/json', body: withRawInputs(JSON.stringify(WHOLE[format](spoken))) };
}

/** Says a text and no more. */
export function emit(text: string, usage?: SpokenUsage): Script {
  return speak({ parts: [{ type: 'text', text }], ...(usage !== undefined && { usage }) });
}

export function isStreamed(format: SpokenFormat, { path, body }: Arrived): boolean {
  if (format === 'gemini') return path.includes(':streamGenerateContent');
  return format === 'converse' ? path.endsWith('-stream') : body['stream'] === true;
}

const WHOLE: Readonly<Record<SpokenFormat, (spoken: Spoken) => JsonObject>> = {
  chat: (spoken) => {
    const thought = textsOf(spoken, 'thought');
    const called = partsOf(spoken, 'call').map(chatCall);
    const message = {
      role: 'assistant',
      content: textsOf(spoken, 'text') ?? null,
      ...(thought !== undefined && { reasoning: thought }),
      ...(called.length > 0 && { tool_calls: called }),
    };
    return {
      ...CHAT_HEAD,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: called.length > 0 ? 'tool_calls' : 'stop' }],
      usage: chatUsage(spoken.usage),
    };
  },
  messages: (spoken) => ({
    ...MESSAGE_HEAD,
    content: spoken.parts.map((part) => messagesBlock(part)),
    stop_reason: stopReason(spoken),
    usage: messagesUsage(spoken.usage),
  }),
  responses: responseOf,
  gemini: (spoken) => geminiChunk(spoken.parts.map(geminiPart), true, spoken),
  converse: (spoken) => ({
    output: { message: { role: 'assistant', content: spoken.parts.map(converseBlock) } },
    stopReason: stopReason(spoken),
    usage: converseUsage(spoken.usage),
    metrics: { latencyMs: 1 },
  }),
  cohere: (spoken) => {
    const content = spoken.parts.flatMap((part) => (part.type === 'call' ? [] : [cohereContent(part)]));
    const called = partsOf(spoken, 'call').map(chatCall);
    return {
      id: 'cohere-1',
      message: {
        role: 'assistant',
        ...(content.length > 0 && { content }),
        ...(called.length > 0 && { tool_calls: called }),
      },
      finish_reason: called.length > 0 ? 'TOOL_CALL' : 'COMPLETE',
      usage: cohereUsage(spoken.usage),
    };
  },
};

const STREAM: Readonly<
  Record<Exclude<SpokenFormat, 'converse'>, (spoken: Spoken) => readonly (JsonObject | string)[]>
> = {
  chat: (spoken) => {
    const called = partsOf(spoken, 'call');
    return [
      chatChunk({ role: 'assistant', content: '' }),
      ...spoken.parts.map((part) => {
        if (part.type === 'text') return chatChunk({ content: part.text });
        if (part.type === 'thought') return chatChunk({ reasoning: part.text ?? '' });
        return chatChunk({ tool_calls: [{ index: called.indexOf(part), ...chatCall(part) }] });
      }),
      chatChunk({}, called.length > 0 ? 'tool_calls' : 'stop'),
      { ...chatChunk({}), choices: [], usage: chatUsage(spoken.usage) },
      '[DONE]',
    ];
  },
  messages: (spoken) => {
    const usage = messagesUsage(spoken.usage);
    return [
      { type: 'message_start', message: { ...MESSAGE_HEAD, content: [], stop_reason: null, usage } },
      ...spoken.parts.flatMap((part, index) => [
        { type: 'content_block_start', index, content_block: messagesBlock(part, true) },
        ...messagesDeltas(part).map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: stopReason(spoken), stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
  },
  responses: (spoken) => {
    const response = responseOf(spoken);
    const items = response['output'] as readonly JsonObject[];
    return [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
      ...items.flatMap((item, index) => [
        {
          type: 'response.output_item.added',
          output_index: index,
          item: { ...item, content: [], arguments: '', input: '' },
        },
        { type: 'response.output_item.done', output_index: index, item },
      ]),
      { type: 'response.completed', response },
    ];
  },
  gemini: (spoken) =>
    spoken.parts.map((part, at) => geminiChunk([geminiPart(part)], at === spoken.parts.length - 1, spoken)),
  cohere: (spoken) => {
    const called = partsOf(spoken, 'call');
    const others = spoken.parts.filter((part) => part.type !== 'call');
    return [
      { id: 'cohere-1', type: 'message-start', delta: { message: { role: 'assistant', content: [] } } },
      ...others.flatMap((part, index) => {
        const { type, ...stated } = cohereContent(part);
        return [
          cohereEvent('content-start', index, { content: { type, [textOf(type)]: '' } }),
          cohereEvent('content-delta', index, { content: stated }),
          { type: 'content-end', index },
        ];
      }),
      ...called.flatMap((call, index) => [
        cohereEvent('tool-call-start', index, { tool_calls: chatCall({ ...call, input: '' }) }),
        cohereEvent('tool-call-delta', index, { tool_calls: { function: { arguments: call.input } } }),
        { type: 'tool-call-end', index },
      ]),
      {
        type: 'message-end',
        delta: { finish_reason: called.length > 0 ? 'TOOL_CALL' : 'COMPLETE', usage: cohereUsage(spoken.usage) },
      },
    ];
  },
};
