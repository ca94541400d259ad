import { mutateJson } from './mutate-json.ts';
import type { Random } from '../random.ts';
import { chatAnswer, chatChunk, messagesAnswer } from '../upstream.ts';

export type UpstreamFormatId = 'chat' | 'messages';

/** Events of one stream: objects are data, strings stand as they are. */
type Events = readonly (object | string)[];

const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 3 },
};

const call = (index: number, more: object): object => ({ tool_calls: [{ index, ...more }] });

const CHAT_STREAMS: readonly Events[] = [
  [
    chatChunk({ role: 'assistant', content: '' }),
    chatChunk({ content: 'Hello ' }),
    chatChunk({ content: 'wörld 🦊' }),
    chatChunk({}, 'stop'),
    { ...chatChunk({}), choices: [], usage: USAGE },
    '[DONE]',
  ],
  [
    chatChunk({ role: 'assistant', reasoning_content: 'hm ' }),
    chatChunk({ reasoning_content: 'so' }),
    chatChunk({ content: 'answer' }),
    chatChunk({ content: '' }, 'length', { usage: USAGE }),
    '[DONE]',
  ],
  [
    chatChunk({
      role: 'assistant',
      content: null,
      ...call(0, { id: 'c1', type: 'function', function: { name: 'f', arguments: '' } }),
    }),
    chatChunk(call(0, { function: { arguments: '{"a":' } })),
    chatChunk(call(1, { id: 'c2', type: 'function', function: { name: 'g', arguments: '{}' } })),
    chatChunk(call(0, { function: { arguments: '1}' } })),
    chatChunk({}, 'tool_calls'),
    '[DONE]',
  ],
  [
    chatChunk({
      role: 'assistant',
      reasoning: 'r',
      reasoning_details: [{ type: 'reasoning.text', text: 'r', index: 0 }],
    }),
    chatChunk({ reasoning_details: [{ type: 'reasoning.text', text: '', signature: 's', index: 0 }] }),
    chatChunk({
      content: 'a',
      annotations: [
        { type: 'url_citation', url_citation: { url: 'https://x', title: 't', start_index: 0, end_index: 1 } },
      ],
    }),
    chatChunk({ refusal: 'no' }),
    chatChunk({}, 'content_filter'),
    { error: { message: 'late', code: 500 } },
    '[DONE]',
  ],
];

const start = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
  },
};
const opened = (index: number, block: object): object => ({ type: 'content_block_start', index, content_block: block });
const delta = (index: number, value: object): object => ({ type: 'content_block_delta', index, delta: value });
const closed = (index: number): object => ({ type: 'content_block_stop', index });
const ended = (reason: string): readonly object[] => [
  { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
];

const MESSAGES_STREAMS: readonly Events[] = [
  [
    start,
    { type: 'ping' },
    opened(0, { type: 'text', text: '' }),
    delta(0, { type: 'text_delta', text: 'Hello ' }),
    delta(0, { type: 'text_delta', text: 'wörld 🦊' }),
    closed(0),
    ...ended('end_turn'),
  ],
  [
    start,
    opened(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'hm' }),
    delta(0, { type: 'signature_delta', signature: 'c2ln' }),
    closed(0),
    opened(1, { type: 'redacted_thinking', data: 'xyz' }),
    closed(1),
    opened(2, { type: 'text', text: '', citations: [] }),
    delta(2, { type: 'text_delta', text: 'cited' }),
    delta(2, {
      type: 'citations_delta',
      citation: {
        type: 'char_location',
        cited_text: 'c',
        document_index: 0,
        document_title: null,
        start_char_index: 0,
        end_char_index: 1,
      },
    }),
    closed(2),
    ...ended('stop_sequence'),
  ],
  [
    start,
    opened(0, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
    delta(0, { type: 'input_json_delta', partial_json: '' }),
    delta(0, { type: 'input_json_delta', partial_json: '{"a":1}' }),
    closed(0),
    opened(1, { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} }),
    closed(1),
    ...ended('tool_use'),
  ],
  [
    start,
    opened(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
    delta(0, { type: 'input_json_delta', partial_json: '{"query":"q"}' }),
    closed(0),
    opened(1, {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [{ type: 'web_search_result', url: 'https://x', title: 't', encrypted_content: 'e', page_age: null }],
    }),
    closed(1),
    opened(2, { type: 'text', text: 'found' }),
    closed(2),
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  ],
];

const CHAT_WHOLES: readonly object[] = [
  chatAnswer('Hello wörld'),
  chatAnswer('', {
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        logprobs: { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] },
        message: {
          role: 'assistant',
          content: null,
          reasoning: 'hm',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1.0}' } }],
          images: [{ image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
        },
      },
    ],
  }),
  { error: { message: 'no', code: 'nope', type: 'x' } },
];

const MESSAGES_WHOLES: readonly object[] = [
  messagesAnswer('Hello wörld'),
  messagesAnswer('', {
    stop_reason: 'tool_use',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
      { type: 'text', text: 'so', citations: null },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1.0 } },
      { type: 'compaction', content: 'short' },
    ],
  }),
  { type: 'error', error: { type: 'api_error', message: 'no' } },
];

const NOISE: Events = [
  'null',
  '7',
  '[]',
  '{}',
  '{"choices":[]}',
  '{"choices":[{}]}',
  '{"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"stop"}]}',
  '{"type":"ping"}',
  '{"type":"nobody_knows","index":0}',
  '{"type":"message_start","message":{}}',
  '{"type":"content_block_stop","index":99}',
  '{"type":"content_block_delta","index":99,"delta":{"type":"text_delta","text":"stray"}}',
  '{"error":{"message":"boom","code":503}}',
  '{"error":"boom"}',
  '{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}',
  '{"broken":',
  '',
  ':comment in data',
  '[DONE]',
];

/** A stream of the format, changed in its events, in the JSON of some, and in how it is written. */
export function createFuzzStream(format: UpstreamFormatId, random: Random): Buffer {
  const events = [...random.pick(format === 'chat' ? CHAT_STREAMS : MESSAGES_STREAMS)];
  for (let changes = random.int(0, 4); changes > 0; changes--) changeEvents(events, random);
  const lineEnd = random.pick(['\n', '\n', '\n', '\n', '\r\n', '\r']);
  const named = format === 'messages' && random.chance(0.9);
  // An index of -0 is passed on as it is: no client minds, but the strict reader of these tests would.
  const text = events
    .map((event) => writeEvent(event, named, lineEnd, random))
    .join('')
    .replaceAll(':-0,', ':0,');
  const bytes = Buffer.from((random.chance(0.02) ? '\ufeff' : '') + text);
  if (random.chance(0.15)) return bytes.subarray(0, random.int(0, bytes.length));
  for (let flips = random.chance(0.1) ? random.int(1, 5) : 0; flips > 0 && bytes.length > 0; flips--)
    bytes[random.int(0, bytes.length - 1)] = random.int(0, 255);
  return bytes;
}

export function createFuzzWhole(format: UpstreamFormatId, random: Random): string {
  const text = mutateJson(random.pick(format === 'chat' ? CHAT_WHOLES : MESSAGES_WHOLES), random, random.int(0, 4));
  return random.chance(0.1) ? text.slice(0, random.int(0, text.length)) : text;
}

function changeEvents(events: (object | string)[], random: Random): void {
  const at = random.int(0, events.length - 1);
  const event = events[at];
  switch (random.int(0, 6)) {
    case 0:
      events.splice(at, 1);
      break;
    case 1:
      if (event !== undefined) events.splice(random.int(0, events.length), 0, event);
      break;
    case 2:
      if (event !== undefined) events.splice(random.int(0, events.length), 0, ...events.splice(at, 1));
      break;
    case 3:
      events.splice(at, 0, random.pick(NOISE));
      break;
    case 4:
      events.splice(at);
      break;
    default:
      if (typeof event === 'object') events[at] = mutateJson(event, random, random.int(1, 3));
  }
}

function writeEvent(event: object | string, named: boolean, lineEnd: string, random: Random): string {
  const data = typeof event === 'string' ? event : JSON.stringify(event);
  const type = typeof event === 'object' && 'type' in event ? String(event.type) : undefined;
  const lines: string[] = [];
  if (random.chance(0.03)) lines.push(random.pick([': comment', 'id: 7', 'retry: 10', 'nonsense', 'event:', 'data']));
  if (named && type !== undefined) lines.push(`event: ${random.chance(0.02) ? 'other' : type}`);
  // A space after the colon is optional, and a line break inside the data makes two lines of it.
  if (random.chance(0.03) && data.includes(','))
    lines.push(
      ...data
        .replace(',', ',\n')
        .split('\n')
        .map((line) => `data:${line}`),
    );
  else lines.push(`data:${random.chance(0.1) ? '' : ' '}${data}`);
  return lines.join(lineEnd) + (random.chance(0.02) ? lineEnd : lineEnd + lineEnd);
}

/** The data of all events of a stream, read in the simplest way there is. */
export function readEvents(bytes: Buffer): string[] {
  const text = bytes
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .replaceAll(/\r\n?/g, '\n');
  return text.split('\n\n').map((event) =>
    event
      .split('\n')
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice('data:'.length).replace(/^ /, ''))
      .join('\n'),
  );
}
