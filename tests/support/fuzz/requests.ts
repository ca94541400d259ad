import { gzipSync } from 'node:zlib';
import { FULL_CHAT, FULL_MESSAGES, FULL_RESPONSES } from '../full-requests.ts';
import { mutateJson } from './mutate-json.ts';
import type { Random } from '../random.ts';

export interface FuzzRequest {
  readonly path: '/v1/chat/completions' | '/v1/messages' | '/v1/responses';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const MODELS = `sandbox/echo sandbox/echo sandbox/echo sandbox/echo sandbox/echo sandbox/echo sandbox/echo sandbox/echo
  acme/chat acme/chat acme/chat acme/messages acme/messages acme/messages acme/openai acme/anthropic
  sandbox/tools sandbox/json sandbox/reasoning`.split(/\s+/);

const user = (content: unknown): object => ({ role: 'user', content });
const tool = { name: 'f', input_schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } };
const chatTool = { type: 'function', function: { name: 'f', parameters: tool.input_schema } };

const CHAT_BODIES: readonly object[] = [
  { messages: [user('hello')] },
  { messages: [{ role: 'system', content: 'Be brief.' }, user([{ type: 'text', text: 'hello' }])], temperature: 0.5 },
  { messages: [user('call')], tools: [chatTool], tool_choice: 'auto', parallel_tool_calls: true },
  {
    messages: [
      user('call'),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":"1"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'done' },
    ],
    tools: [chatTool],
  },
  {
    messages: [user('json')],
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: tool.input_schema } },
  },
  { messages: [user('think')], reasoning: { effort: 'low' }, max_completion_tokens: 2_000 },
  FULL_CHAT,
];

const MESSAGES_BODIES: readonly object[] = [
  { max_tokens: 50, messages: [user('hello')] },
  { max_tokens: 50, system: 'Be brief.', messages: [user([{ type: 'text', text: 'hello' }])], temperature: 0.5 },
  { max_tokens: 50, messages: [user('call')], tools: [tool], tool_choice: { type: 'auto' } },
  {
    max_tokens: 50,
    tools: [tool],
    messages: [
      user('call'),
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'so' },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: '1' } },
        ],
      },
      user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }]),
    ],
  },
  {
    max_tokens: 50,
    messages: [user('json')],
    output_config: { format: { type: 'json_schema', schema: tool.input_schema } },
  },
  { max_tokens: 4_000, messages: [user('think')], thinking: { type: 'enabled', budget_tokens: 2_000 } },
  FULL_MESSAGES,
];

const called = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":"1"}' };

const RESPONSES_BODIES: readonly object[] = [
  { input: 'hello' },
  { input: [user([{ type: 'input_text', text: 'hello' }])], instructions: 'Be brief.', temperature: 0.5 },
  {
    input: [user('call'), called, { type: 'function_call_output', call_id: 'c1', output: 'done' }],
    tools: [{ type: 'function', name: 'f', parameters: tool.input_schema }],
    tool_choice: { type: 'function', name: 'f' },
  },
  {
    input: 'json',
    text: { format: { type: 'json_schema', name: 'x', schema: tool.input_schema }, verbosity: 'low' },
  },
  { input: 'think', reasoning: { effort: 'low', summary: 'auto' }, max_output_tokens: 2_000 },
  { input: [{ type: 'item_reference', id: 'msg_1' }], previous_response_id: 'resp_1' },
  FULL_RESPONSES,
];

const ROUTES: readonly (readonly [path: FuzzRequest['path'], bodies: readonly object[]])[] = [
  ['/v1/chat/completions', CHAT_BODIES],
  ['/v1/messages', MESSAGES_BODIES],
  ['/v1/responses', RESPONSES_BODIES],
];

/** One request: a valid body of a format with some changes, sometimes broken as text or with hostile headers. */
export function createFuzzRequest(random: Random, key: string): FuzzRequest {
  const [path, bodies] = random.pick(ROUTES);
  const model = random.pick(MODELS);
  const { provider: _provider, ...base } = {
    provider: undefined,
    ...random.pick(bodies),
  };
  const { models: _models, fallbacks: _fallbacks, ...members } = { models: undefined, fallbacks: undefined, ...base };
  const dice = random.next();
  const changes = dice < 0.06 ? 0 : dice < 0.5 ? 1 : dice < 0.75 ? 2 : random.int(3, 6);
  const text = mutateJson({ model, stream: random.chance(0.5), ...members }, random, changes);
  const body = random.chance(0.1) ? breakText(text, random) : Buffer.from(text);
  return {
    path,
    ...dress(body, { authorization: `Bearer ${key}`, 'content-type': 'application/json' }, random),
  };
}

/** What is no JSON any more, or JSON that is written strangely. */
function breakText(text: string, random: Random): Buffer {
  const at = random.int(0, text.length);
  switch (random.int(0, 12)) {
    case 0:
      return Buffer.from(text.slice(0, at));
    case 1:
      return Buffer.from(text.slice(0, at) + String.fromCharCode(random.int(0, 127)) + text.slice(at));
    case 2:
      return Buffer.from(text + text);
    case 3:
      return Buffer.from(`\ufeff${text}`);
    case 4:
      return Buffer.from(text, 'utf16le');
    case 5:
      return Buffer.concat([
        Buffer.from(text.slice(0, at)),
        Buffer.from([0xff, 0xfe, 0xc3, 0x28]),
        Buffer.from(text.slice(at)),
      ]);
    case 6:
      return Buffer.from(`${' \n\t'.repeat(random.int(1, 20_000))}${text}`);
    case 7:
      return Buffer.from(text.replaceAll('"', "'"));
    case 8:
      return Buffer.from(text.replace(/}$/, ',}'));
    case 9:
      return Buffer.from(text.replace('{', '{"model":"sandbox/echo","model":null,'));
    case 10:
      return Buffer.from(random.pick(['', 'null', '[]', '"x"', '7', '{}', 'undefined', '{', '[{', '"\\ud800"']));
    case 11:
      return Buffer.from(text.slice(at));
    default:
      return Buffer.from(`/* comment */${text}// end`);
  }
}

const TYPES = [
  'text/plain',
  'application/xml',
  'application/json; charset=utf-16',
  'multipart/form-data',
  '',
  'a/b;c="',
  '*/*',
];
const HEADERS: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['x-service-metadata', ['enabled', 'ENABLED', 'disabled', '', 'true']],
  ['x-service-experimental-metadata', ['enabled']],
  ['x-session-id', ['s', 'x'.repeat(256), 'x'.repeat(257), '\u00e9', '"']],
  [
    'anthropic-beta',
    ['a,b,,c', ','.repeat(500), 'x'.repeat(8_000), 'interleaved-thinking-2025-05-14', '[object Object]'],
  ],
  ['x-anthropic-beta', ['structured-outputs-2025-11-13', 'a\tb']],
  ['anthropic-version', ['2023-06-01', 'never', '']],
  ['http-referer', ['https://example.com', 'x'.repeat(5_000), 'javascript:alert(1)']],
  ['x-title', ['title', '\u00ff\u00fe', '<script>']],
  ['x-service-categories', ['cli-agent', 'a,b,c,d,e', ','.repeat(1_000)]],
  ['user-agent', ['', 'x'.repeat(10_000), 'claude-cli/2.1.80']],
  ['x-forwarded-for', ['127.0.0.1', "1'--"]],
  ['x-forwarded-host', ['evil.example.com']],
  ['x-http-method-override', ['DELETE']],
  ['x-service-fusion-depth', ['99']],
  ['accept', ['text/html', 'application/json', '*/*;q=0']],
  ['accept-encoding', ['br', 'gzip, deflate, br, zstd', 'identity;q=0']],
  ['cookie', ['a=b', 'x'.repeat(4_000)]],
  ['constructor', ['x']],
  ['__proto__', ['x']],
];
const KEYS = [
  '',
  'Bearer',
  'Bearer ',
  'bearer nonsense',
  'Basic dXNlcjpwYXNz',
  `Bearer ${'x'.repeat(5_000)}`,
  "Bearer ' OR 1=1 --",
];

function dress(body: Buffer, headers: Record<string, string>, random: Random): Pick<FuzzRequest, 'headers' | 'body'> {
  const dressed = { ...headers };
  let sent = body;
  for (let more = random.chance(0.2) ? random.int(1, 5) : 0; more > 0; more--) {
    const [name, values] = random.pick(HEADERS);
    dressed[name] = random.pick(values);
  }
  if (random.chance(0.03)) dressed['content-type'] = random.pick(TYPES);
  if (random.chance(0.02)) dressed['authorization'] = random.pick(KEYS);
  if (random.chance(0.04)) {
    dressed['content-encoding'] = random.pick([
      'gzip',
      'x-gzip',
      'deflate',
      'br',
      'zstd',
      'identity',
      'gzip, gzip',
      '',
    ]);
    if (random.chance(0.5)) sent = gzipSync(body);
  }
  return { headers: dressed, body: sent };
}
