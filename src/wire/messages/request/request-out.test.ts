import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Block, MediaSource, ToolCallBlock, ToolResultBlock } from '../../../canonical/blocks.ts';
import type { GenerationRequest, Settings, Tool, Turn } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { legalToolName } from '../../gateway/legal-tool-name.ts';
import { legalToolId, originalToolId } from './tool-ids.ts';
import { chatRequest, decode, encode, target, user } from '../../../../tests/support/wire/messages/request.ts';

const VENDOR = target({ vendor: true });
const BUDGET = target({ vendor: true, thinking: 'budget' });

function assistant(...blocks: readonly Block[]): Turn {
  return { role: 'assistant', blocks };
}

function call(id: string, name = 'f', input = '{}'): ToolCallBlock {
  return { type: 'tool-call', id, name, input, runBy: 'caller' };
}

function result(callId: string, value: string): Turn {
  const block: ToolResultBlock = {
    type: 'tool-result',
    callId,
    plain: true,
    content: [{ type: 'text', text: value }],
  };
  return { role: 'tool', blocks: [block] };
}

function text(value: string): Block {
  return { type: 'text', text: value };
}

function bodyOf(turns: readonly Turn[], settings: Settings = {}, more: Partial<GenerationRequest> = {}): JsonObject {
  return encode(chatRequest(turns, settings, more), VENDOR).body;
}

function pathsOf(request: GenerationRequest, to = VENDOR): readonly string[] {
  return encode(request, to).warnings.map(({ path }) => path);
}

test('encodes a plain chat request as a plain messages request', () => {
  const request = chatRequest([{ role: 'system', plain: true, blocks: [text('be brief')] }, user('hi')], {
    maxTokens: 50,
  });
  const { body, headers, warnings } = encode(request, VENDOR);
  assert.deepEqual(body, {
    model: 'upstream-model',
    max_tokens: 50,
    system: [{ type: 'text', text: 'be brief' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    metadata: { user_id: 'hash-1' },
  });
  assert.deepEqual(headers, {});
  assert.deepEqual(warnings, []);
});

// @spec translate-2
test('puts leading instructions into the system prompt, and later ones into user text in place', () => {
  const body = bodyOf([
    { role: 'system', blocks: [text('a')] },
    { role: 'developer', blocks: [text('b')] },
    user('c'),
    assistant(text('d')),
    { role: 'system', blocks: [text('e')] },
    user('f'),
  ]);
  assert.deepEqual(body['system'], [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ]);
  assert.deepEqual(body['messages'], [
    { role: 'user', content: [{ type: 'text', text: 'c' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'd' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'e' },
        { type: 'text', text: 'f' },
      ],
    },
  ]);
});

test('instructions alone are sent as the user', () => {
  const body = bodyOf([{ role: 'system', blocks: [text('say hi')] }]);
  assert.equal(body['system'], undefined);
  assert.deepEqual(body['messages'], [{ role: 'user', content: [{ type: 'text', text: 'say hi' }] }]);
});

test('parallel calls are answered in one user message, results first', () => {
  const body = bodyOf([
    user('go'),
    assistant(text('calling'), call('a', 'f', '{"n":1.0}'), call('b')),
    result('b', 'second'),
    result('a', 'first'),
    user('and?'),
  ]);
  assert.deepEqual(body['messages'], [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'calling' },
        { type: 'tool_use', id: 'a', name: 'f', input: { n: 1 } },
        { type: 'tool_use', id: 'b', name: 'f', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'first' },
        { type: 'tool_result', tool_use_id: 'b', content: 'second' },
        { type: 'text', text: 'and?' },
      ],
    },
  ]);
});

test('makes ids that upstreams use twice distinct, each with its own result', () => {
  const body = bodyOf([user('go'), assistant(call('x')), result('x', '1'), assistant(call('x')), result('x', '2')]);
  const messages = body['messages'] as readonly JsonObject[];
  assert.deepEqual(
    messages.slice(1).map(({ content }) => content),
    [
      [{ type: 'tool_use', id: 'x', name: 'f', input: {} }],
      [{ type: 'tool_result', tool_use_id: 'x', content: '1' }],
      [{ type: 'tool_use', id: 'x_1', name: 'f', input: {} }],
      [{ type: 'tool_result', tool_use_id: 'x_1', content: '2' }],
    ],
  );
});

// @spec translate-7
test('illegal ids and names are mapped, and the way back is known', () => {
  const name = 'files/read v2 '.repeat(8);
  const tools: readonly Tool[] = [
    { type: 'function', name },
    { type: 'function', name: 'plain' },
  ];
  const request = chatRequest(
    [user('go'), assistant(call('call:1/ü', name)), result('call:1/ü', 'ok')],
    { toolChoice: { type: 'function', name } },
    { tools },
  );
  const { body, toolNames } = encode(request, VENDOR);
  const sent = legalToolName(name);
  assert.match(sent, /^[a-zA-Z0-9_-]{1,64}$/);
  assert.notEqual(sent, legalToolName(`${name}!`));
  assert.deepEqual([...(toolNames ?? [])], [[sent, name]]);
  assert.deepEqual(body['tool_choice'], { type: 'tool', name: sent });
  const [, calls, results] = body['messages'] as readonly { content: readonly JsonObject[] }[];
  const id = calls?.content[0]?.['id'];
  assert.equal(id, legalToolId('call:1/ü'));
  assert.equal(originalToolId(legalToolId('call:1/ü')), 'call:1/ü');
  assert.equal(calls?.content[0]?.['name'], sent);
  assert.equal(results?.content[0]?.['tool_use_id'], id);
});

// @spec translate-5
test('puts arguments that are no JSON object below _raw', () => {
  const body = bodyOf([user('go'), assistant(call('a', 'f', 'not json'), call('b', 'f', '[1]'), call('c', 'f', ''))]);
  const [, message] = body['messages'] as readonly { content: readonly JsonObject[] }[];
  assert.deepEqual(
    message?.content.map(({ input }) => input),
    [{ _raw: 'not json' }, { _raw: '[1]' }, {}],
  );
});

test('images and documents find their sources, and what the format lacks is refused', () => {
  const media = (kind: 'image' | 'document' | 'audio' | 'video', url: string): Block => ({
    type: 'media',
    media: kind,
    source: { type: 'url', url },
  });
  const request = chatRequest([
    {
      role: 'user',
      blocks: [
        text('look'),
        media('image', 'data:image/png;base64,AAAA'),
        media('image', 'https://example.com/a.png'),
        {
          type: 'media',
          media: 'document',
          name: 'a.pdf',
          source: { type: 'base64', mediaType: 'application/pdf', data: 'JVBE' },
        },
        media('document', 'data:text/plain;base64,aGk='),
      ],
    },
  ]);
  const { body, warnings } = encode(request, VENDOR);
  assert.deepEqual(body['messages'], [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title: 'a.pdf' },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'hi' } },
      ],
    },
  ]);
  assert.deepEqual(warnings, []);
  for (const foreign of [media('audio', 'data:audio/wav;base64,AAAA'), media('video', 'https://example.com/a.mp4')])
    assert.throws(
      () => encode(chatRequest([{ role: 'user', blocks: [text('look'), foreign] }]), VENDOR),
      /: messages\[0\]\.content\[1\]: is (?:audio|a video), which/,
    );
});

test('sends a file by its content: images as images, readable files as text', () => {
  const file = (source: MediaSource): Block => ({ type: 'media', media: 'document', name: 'a', source });
  const bytes = (mediaType: string, data: string): Block => file({ type: 'base64', mediaType, data });
  const blocks = [
    bytes('image/png', 'AAAA'),
    bytes('application/json', 'e30='),
    bytes('application/ld+json', 'e30='),
    file({ type: 'url', url: 'data:text/markdown;charset=utf-8;base64,I2E=' }),
    file({ type: 'url', url: 'DATA:application/pdf;name=a.pdf;BASE64,JVBE' }),
  ];
  const { body } = encode(chatRequest([{ role: 'user', blocks }]), VENDOR);
  const stated = (data: string): JsonObject => ({
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data },
    title: 'a',
  });
  assert.deepEqual(body['messages'], [
    {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        stated('{}'),
        stated('{}'),
        stated('#a'),
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title: 'a' },
      ],
    },
  ]);
});

// @spec translate-9
test('blank text is never sent, nor a message without content', () => {
  const marked: Block = { type: 'text', text: ' \n', cache: { kind: 'ephemeral' } };
  const turns: readonly Turn[] = [
    { role: 'system', blocks: [marked] },
    user('a'),
    assistant(text(''), call('x')),
    result('x', ''),
    { role: 'user', blocks: [marked, text('b')] },
    assistant(text(' ')),
    user('c'),
  ];
  const sent = JSON.stringify(bodyOf(turns));
  assert.doesNotMatch(sent, /"text":"\s*"|cache_control|"content":\[\]|"system"/);
  assert.match(sent, /"text":"b"\},\{"type":"text","text":"c"/);
});

// @spec translate-10
test('trims the white space at the end of the beginning of a response', () => {
  const body = bodyOf([user('a'), assistant(text('Sure: \n'))]);
  assert.deepEqual((body['messages'] as readonly JsonObject[])[1]?.['content'], [{ type: 'text', text: 'Sure:' }]);
});

// @spec chat-6
test('names a participant in the text', () => {
  const body = bodyOf([{ ...user('hi'), name: 'Ada' }]);
  assert.deepEqual(body['messages'], [{ role: 'user', content: [{ type: 'text', text: 'Ada: hi' }] }]);
});

// @spec reasoning-16
test('sends only signed reasoning of the own family back', () => {
  const request = chatRequest([
    user('a'),
    assistant(
      { type: 'reasoning', form: 'text', text: 'mine', signature: 's', family: 'anthropic-claude-v1' },
      { type: 'reasoning', form: 'encrypted', text: 'sealed' },
      { type: 'reasoning', form: 'text', text: 'unsigned' },
      { type: 'reasoning', form: 'encrypted', text: 'theirs', family: 'google-gemini-v1' },
      { type: 'reasoning', form: 'summary', text: 'short', family: 'openai-responses-v1' },
      text('b'),
    ),
    user('c'),
  ]);
  const { body, warnings } = encode(request, VENDOR);
  assert.deepEqual((body['messages'] as readonly JsonObject[])[1]?.['content'], [
    { type: 'thinking', thinking: 'mine', signature: 's' },
    { type: 'redacted_thinking', data: 'sealed' },
    { type: 'text', text: 'b' },
  ]);
  assert.equal(warnings.length, 3);
});

test('sends unsigned reasoning back to a host that signs nothing', () => {
  const wire = {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: '' }] },
    ],
    max_tokens: 9,
  };
  assert.deepEqual(encode(decode(wire), target()).body['messages'], wire.messages);
  assert.equal((encode(decode(wire), VENDOR).body['messages'] as readonly unknown[]).length, 1);
});

// @spec translate-18, translate-19
test('tools, forced choice and sequential calls are said in the words of the format', () => {
  const tools: readonly Tool[] = [
    {
      type: 'function',
      name: 'f',
      description: 'd',
      parameters: { type: 'object', properties: {} },
      strict: true,
      cache: { kind: 'ephemeral', ttl: '1h' },
    },
    { type: 'function', name: 'bare' },
    { type: 'server', name: 'service:datetime' },
    { type: 'opaque', format: 'chat', value: { type: 'x' } },
  ];
  const request = chatRequest(
    [user('a')],
    { toolChoice: { type: 'required' }, parallelToolCalls: false },
    { tools, delivery: 'stream' },
  );
  const { body } = encode(request, VENDOR);
  assert.deepEqual(body['tools'], [
    {
      name: 'f',
      description: 'd',
      input_schema: { type: 'object', properties: {} },
      eager_input_streaming: true,
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
    { name: 'bare', input_schema: { type: 'object' }, eager_input_streaming: true },
  ]);
  assert.deepEqual(body['tool_choice'], { type: 'any', disable_parallel_tool_use: true });
  assert.equal(body['stream'], true);
  assert.deepEqual(pathsOf(request), ['tools[0].function.strict', 'tools[2]', 'tools[3]']);
  const { directives } = request;
  const beta = { ...request, directives: { ...directives, betas: ['structured-outputs-2025-11-13'] } };
  assert.equal((encode(beta, VENDOR).body['tools'] as readonly JsonObject[])[0]?.['strict'], true);
});

test('keeps the requested single call at a time beside a tool choice that the format cannot express', () => {
  const value = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } };
  const request = chatRequest(
    [user('hi')],
    { parallelToolCalls: false, toolChoice: { type: 'opaque', format: 'chat', value } },
    { tools: [{ type: 'function', name: 'f' }] },
  );
  const { body, warnings } = encode(request, target({ vendor: true }));
  assert.deepEqual(body['tool_choice'], { type: 'auto', disable_parallel_tool_use: true });
  assert.ok(warnings.some(({ path }) => path === 'tool_choice'));
});

test('sequential calls alone need a choice, and a choice needs a tool', () => {
  const tools: readonly Tool[] = [{ type: 'function', name: 'f' }];
  assert.deepEqual(bodyOf([user('a')], { parallelToolCalls: false }, { tools })['tool_choice'], {
    type: 'auto',
    disable_parallel_tool_use: true,
  });
  assert.equal(bodyOf([user('a')], { parallelToolCalls: true }, { tools })['tool_choice'], undefined);
  assert.equal(bodyOf([user('a')], { toolChoice: { type: 'required' } })['tool_choice'], undefined);
});

test('warns of settings that the format cannot express', () => {
  const request = chatRequest(
    [user('a')],
    {
      seed: 1,
      frequencyPenalty: 0,
      logprobs: true,
      logitBias: {},
      modalities: ['text', 'image'],
      serviceTier: 'priority',
      topK: 0,
      temperature: 1.5,
      stop: ['  ', 'END'],
    },
    { extra: { format: 'chat', fields: { safe_prompt: true } } },
  );
  const { body } = encode(request, VENDOR);
  assert.equal(body['temperature'], 1);
  assert.equal(body['top_k'], undefined);
  assert.deepEqual(body['stop_sequences'], ['END']);
  assert.deepEqual(pathsOf(request).toSorted(), [
    'frequency_penalty',
    'logit_bias',
    'logprobs',
    'modalities',
    'safe_prompt',
    'seed',
    'service_tier',
    'stop',
    'temperature',
  ]);
});

// @spec messages-2
test("always sends a maximum: the requested one, the endpoint's, or the default", () => {
  const request = chatRequest([user('a')]);
  assert.equal(encode(request, target({}, { maxOutputTokens: 64_000 })).body['max_tokens'], 64_000);
  assert.equal(encode(request, target()).body['max_tokens'], 4_096);
});

// @spec route-20
test('drops parameters that the list omits, but never those that every endpoint takes', () => {
  const settings: Settings = {
    maxTokens: 9,
    temperature: 1,
    topP: 0.5,
    topK: 3,
    stop: ['x'],
    toolChoice: { type: 'auto' },
    parallelToolCalls: false,
    reasoning: { effort: 'high' },
    verbosity: 'low',
    responseFormat: { type: 'json_object' },
  };
  const request = chatRequest([user('a')], settings, { tools: [{ type: 'function', name: 'f' }] });
  const none = target({ vendor: true, thinking: 'adaptive' }, { supportedParameters: new Set() });
  const { body } = encode(request, none);
  assert.deepEqual(Object.keys(body).toSorted(), [
    'max_tokens',
    'messages',
    'metadata',
    'model',
    'stop_sequences',
    'temperature',
    'top_p',
  ]);
  assert.deepEqual(pathsOf(request, none).toSorted(), [
    'parallel_tool_calls',
    'reasoning',
    'response_format',
    'tool_choice',
    'tools',
    'top_k',
    'verbosity',
  ]);
});

// @spec prompt-cache-3
test('cache breakpoints are converted, and only the last four are sent', () => {
  const marked = (value: string, kind: 'ephemeral' | 'explicit'): Block => ({
    type: 'text',
    text: value,
    cache: { kind, ...(kind === 'ephemeral' && { ttl: '1h' }) },
  });
  const turns: readonly Turn[] = [
    { role: 'system', blocks: [marked('s', 'ephemeral')] },
    {
      role: 'user',
      blocks: [marked('a', 'explicit'), marked('b', 'ephemeral'), marked('c', 'ephemeral'), marked('d', 'ephemeral')],
    },
  ];
  const four = bodyOf(turns);
  assert.deepEqual(four['system'], [{ type: 'text', text: 's' }]);
  const [message] = four['messages'] as readonly { content: readonly JsonObject[] }[];
  assert.deepEqual(
    message?.content.map(({ cache_control }) => cache_control),
    [
      { type: 'ephemeral' },
      { type: 'ephemeral', ttl: '1h' },
      { type: 'ephemeral', ttl: '1h' },
      { type: 'ephemeral', ttl: '1h' },
    ],
  );
  const three = bodyOf(turns, { cache: { kind: 'ephemeral' } });
  assert.deepEqual(three['cache_control'], { type: 'ephemeral' });
  assert.equal(JSON.stringify(three['messages']).split('cache_control').length - 1, 3);
});

// @spec prompt-cache-1
test('puts the breakpoint of the request on the last block for a host without the top-level directive', () => {
  const { body } = encode(
    chatRequest([user('a'), assistant(text('b')), user('c')], { cache: { kind: 'ephemeral', ttl: '5m' } }),
    target(),
  );
  assert.equal(body['cache_control'], undefined);
  assert.deepEqual((body['messages'] as readonly JsonObject[])[2]?.['content'], [
    { type: 'text', text: 'c', cache_control: { type: 'ephemeral', ttl: '5m' } },
  ]);
});

// @spec prompt-cache-1
test('keeps the bytes before the breakpoint of the whole request when the conversation continues', () => {
  const sent = (messages: readonly JsonObject[]): string => {
    const { body } = encode(decode({ model: 'm', messages, cache_control: { type: 'ephemeral' } }), target());
    return JSON.stringify(body['messages']).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
  };
  const first = [{ role: 'user', content: 'a' }];
  const more = [
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
  ];
  assert.ok(sent([...first, ...more]).startsWith(sent(first).slice(0, -1)));
});

// @spec prompt-cache-8
test('encodes the same prompt always to the same bytes, and does not change the request', () => {
  const request = decode({
    system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
    messages: [1, 2, 3, 4, 5].map((n) => ({
      role: 'user',
      content: [
        {
          type: 'search_result',
          source: 's',
          title: 't',
          content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }],
          cache_control: { type: 'ephemeral' },
          n,
        },
      ],
    })),
    max_tokens: 9,
  });
  const before = JSON.stringify(request);
  const first = JSON.stringify(encode(request, VENDOR).body);
  assert.equal(JSON.stringify(encode(request, VENDOR).body), first);
  assert.equal(JSON.stringify(request), before);
});

const READER = target({ ...VENDOR.dialect, readsAttribution: true });

test('sends the changing line of a terminal agent to the vendor only, not to other hosts of its models', () => {
  const line = 'x-anthropic-billing-header: cc_version=2; cch=1f3a;';
  const wire = {
    system: [
      { type: 'text', text: line },
      { type: 'text', text: 'rules' },
    ],
    messages: [{ role: 'user', content: 'a' }],
    max_tokens: 9,
  };
  assert.equal((encode(decode(wire), READER).body['system'] as readonly unknown[]).length, 2);
  for (const other of [VENDOR, target()])
    assert.deepEqual(encode(decode(wire), other).body['system'], [{ type: 'text', text: 'rules' }]);
});

test('rules below the changing line in one string stay', () => {
  const system = 'x-anthropic-billing-header: cch=1f3a;\n\nrules\nmore';
  const wire = { system, messages: [{ role: 'user', content: 'a' }], max_tokens: 9 };
  assert.equal(encode(decode(wire), target()).body['system'], 'rules\nmore');
  assert.equal(encode(decode(wire), READER).body['system'], system);
});

// @spec messages-15
test('sends members that only the vendor knows to no other host', () => {
  const wire = {
    messages: [{ role: 'user', content: 'a' }],
    max_tokens: 9,
    tools: [{ type: 'bash_20250124', name: 'bash' }],
    tool_choice: { type: 'auto', x_unknown: 1 },
    cache_control: { type: 'ephemeral', x_unknown: 1 },
    container: 'c',
    mcp_servers: [],
    inference_geo: 'eu',
    context_management: { edits: [] },
    speed: 'fast',
    temperature: 1.5,
  };
  const { body, headers, warnings } = encode(decode(wire, { betas: ['context-1m-2025-08-07'] }), target());
  assert.deepEqual(body, {
    model: 'upstream-model',
    max_tokens: 9,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] }],
    temperature: 1.5,
    metadata: { user_id: 'hash-1' },
  });
  assert.deepEqual(headers, {});
  assert.deepEqual(warnings.map(({ path }) => path).toSorted(), [
    'anthropic-beta',
    'cache_control.x_unknown',
    'container',
    'context_management',
    'inference_geo',
    'mcp_servers',
    'speed',
    'tool_choice',
    'tools[0]',
  ]);
});

// @spec request-29
test('known beta flags pass, unknown ones do not, and needed ones are added', () => {
  const wire = {
    messages: [{ role: 'user', content: 'a' }],
    max_tokens: 9,
    speed: 'fast',
    output_config: { task_budget: { type: 'tokens', total: 20_000 } },
  };
  const betas = ['interleaved-thinking-2025-05-14', 'oauth-2025-04-20', 'task-budgets-2099-01-01'];
  const allow = ['interleaved-thinking', 'task-budgets', 'fast-mode'];
  const betaRules = { allow: new Set(allow), deny: new Set<string>(), rename: new Map<string, string>() };
  const { headers, warnings } = encode(decode(wire, { betas }), { ...VENDOR, betaRules });
  assert.equal(
    headers['anthropic-beta'],
    'interleaved-thinking-2025-05-14,task-budgets-2099-01-01,fast-mode-2026-02-01',
  );
  assert.deepEqual(
    warnings.map(({ path }) => path),
    ['anthropic-beta'],
  );
  const fewer = { ...betaRules, deny: new Set(['fast-mode']) };
  const denied = encode(decode(wire, { betas }), { ...VENDOR, betaRules: fewer });
  assert.equal(denied.headers['anthropic-beta'], 'interleaved-thinking-2025-05-14,task-budgets-2099-01-01');
});

test('sends only the flags that the operator allows to a host that is not the vendor', () => {
  const wire = { messages: [{ role: 'user', content: 'a' }], max_tokens: 9, output_config: { effort: 'low' } };
  const betaRules = { allow: new Set(['*']), deny: new Set<string>(), rename: new Map<string, string>() };
  const sent = encode(decode(wire, { betas: ['effort-2025-11-24'] }), target({}, { betaRules }));
  assert.deepEqual(sent.headers, { 'anthropic-beta': 'effort-2025-11-24' });
  assert.deepEqual(encode(decode(wire), target({}, { betaRules })).headers, {});
});

test("results of the gateway's own sandboxes are removed with their calls", () => {
  const wire = {
    messages: [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'bash', input: {} },
          { type: 'service_bash_tool_result', tool_use_id: 'srvtoolu_1', content: {} },
          { type: 'text', text: 'done' },
        ],
      },
    ],
    max_tokens: 9,
  };
  const messages = encode(decode(wire), VENDOR).body['messages'] as readonly JsonObject[];
  assert.deepEqual(messages[1]?.['content'], [{ type: 'text', text: 'done' }]);
});

// @spec messages-3
test("a temperature above the vendor's range is clamped for callers of the format too", () => {
  const wire = { messages: [{ role: 'user', content: 'a' }], max_tokens: 9, temperature: 1.5 };
  assert.equal(encode(decode(wire), VENDOR).body['temperature'], 1);
});

test('turns that the gateway adds to a request of this format find their place', () => {
  const request = decode({ messages: [{ role: 'user', content: 'a' }], max_tokens: 9, system: 's' });
  const grown: GenerationRequest = {
    ...request,
    turns: [
      { role: 'system', plain: true, blocks: [text('preset')] },
      ...request.turns,
      assistant(call('a'), call('b')),
      result('a', '1'),
      result('b', '2'),
    ],
  };
  const { body } = encode(grown, VENDOR);
  assert.deepEqual(body['system'], [
    { type: 'text', text: 'preset' },
    { type: 'text', text: 's' },
  ]);
  assert.deepEqual((body['messages'] as readonly JsonObject[])[2], {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'a', content: '1' },
      { type: 'tool_result', tool_use_id: 'b', content: '2' },
    ],
  });
});

interface ThinkingCase {
  readonly name: string;
  readonly settings: Settings;
  readonly to: ReturnType<typeof target>;
  readonly expected: JsonObject;
}

/** @spec reasoning-5, reasoning-6 */
const THINKING: readonly ThinkingCase[] = [
  {
    name: 'high of 8000',
    settings: { maxTokens: 8_000, reasoning: { effort: 'high' } },
    to: BUDGET,
    expected: { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 6_400 } },
  },
  {
    name: 'low of 8000',
    settings: { maxTokens: 8_000, reasoning: { effort: 'low' } },
    to: BUDGET,
    expected: { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 1_600 } },
  },
  {
    name: 'minimal of 8000 is raised',
    settings: { maxTokens: 8_000, reasoning: { effort: 'minimal' } },
    to: BUDGET,
    expected: { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 1_024 } },
  },
  {
    name: 'xhigh of 200000 is cut',
    settings: { maxTokens: 200_000, reasoning: { effort: 'xhigh' } },
    to: BUDGET,
    expected: { max_tokens: 200_000, thinking: { type: 'enabled', budget_tokens: 128_000 } },
  },
  {
    name: 'medium of 1000 raises the maximum',
    settings: { maxTokens: 1_000, reasoning: { effort: 'medium' } },
    to: BUDGET,
    expected: { max_tokens: 2_048, thinking: { type: 'enabled', budget_tokens: 1_024 } },
  },
  {
    name: 'medium of 1000 at an endpoint that cannot',
    settings: { maxTokens: 1_000, reasoning: { effort: 'medium' } },
    to: target({ thinking: 'budget' }, { maxOutputTokens: 2_000 }),
    expected: { max_tokens: 1_000 },
  },
  {
    name: 'an explicit budget as it is',
    settings: { maxTokens: 9_000, reasoning: { maxTokens: 3_000 } },
    to: BUDGET,
    expected: { max_tokens: 9_000, thinking: { type: 'enabled', budget_tokens: 3_000 } },
  },
  {
    name: 'an explicit budget above the maximum',
    settings: { maxTokens: 3_000, reasoning: { maxTokens: 5_000 } },
    to: target({ thinking: 'budget' }, { maxOutputTokens: 4_096 }),
    expected: { max_tokens: 4_096, thinking: { type: 'enabled', budget_tokens: 3_072 } },
  },
  {
    name: 'enabled alone is medium',
    settings: { maxTokens: 8_000, reasoning: { enabled: true } },
    to: BUDGET,
    expected: { max_tokens: 8_000, thinking: { type: 'enabled', budget_tokens: 4_000 } },
  },
  { name: 'nothing asked', settings: { maxTokens: 8_000, reasoning: {} }, to: BUDGET, expected: { max_tokens: 8_000 } },
  {
    name: 'off on a budget model',
    settings: { maxTokens: 8_000, reasoning: { effort: 'none' } },
    to: BUDGET,
    expected: { max_tokens: 8_000 },
  },
  {
    name: 'effort on an adaptive model',
    settings: { maxTokens: 9, reasoning: { effort: 'minimal' } },
    to: target({ thinking: 'adaptive' }),
    expected: {
      max_tokens: 9,
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
    },
  },
  {
    name: 'max where the model knows it',
    settings: { maxTokens: 9, reasoning: { effort: 'max' } },
    to: target({ thinking: 'adaptive', efforts: ['max'] }),
    expected: {
      max_tokens: 9,
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'max' },
    },
  },
  {
    name: 'xhigh where it does not',
    settings: { maxTokens: 9, reasoning: { effort: 'xhigh' } },
    to: target({ thinking: 'adaptive', efforts: ['max'] }),
    expected: {
      max_tokens: 9,
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'high' },
    },
  },
  {
    name: 'verbosity wins over effort',
    settings: { maxTokens: 9, verbosity: 'low', reasoning: { effort: 'high' } },
    to: target({ thinking: 'adaptive' }),
    expected: {
      max_tokens: 9,
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
    },
  },
  {
    name: 'a budget on an adaptive model',
    settings: { maxTokens: 9_000, reasoning: { maxTokens: 2_000 } },
    to: target({ thinking: 'adaptive' }),
    expected: { max_tokens: 9_000, thinking: { type: 'enabled', budget_tokens: 2_000 } },
  },
  {
    name: 'a budget on an adaptive-only model',
    settings: { maxTokens: 9_000, reasoning: { maxTokens: 2_000, exclude: true } },
    to: target({ thinking: 'adaptive-only' }),
    expected: { max_tokens: 9_000, thinking: { type: 'adaptive', display: 'omitted' } },
  },
  {
    name: 'off on an adaptive-only model',
    settings: { maxTokens: 9, verbosity: 'max', reasoning: { enabled: false } },
    to: target({ thinking: 'adaptive-only', efforts: ['max'] }),
    expected: { max_tokens: 9, thinking: { type: 'disabled' } },
  },
  {
    name: 'a model that cannot think',
    settings: { maxTokens: 9, reasoning: { effort: 'high' } },
    to: target({ thinking: 'none' }),
    expected: { max_tokens: 9 },
  },
  {
    name: 'a forced tool',
    settings: { maxTokens: 8_000, reasoning: { effort: 'high' }, toolChoice: { type: 'required' } },
    to: BUDGET,
    expected: { max_tokens: 8_000, tool_choice: { type: 'any' } },
  },
];

for (const { name, settings, to, expected } of THINKING) {
  // @spec reasoning-8, reasoning-9, reasoning-10, reasoning-11, reasoning-15
  test(`thinking: ${name}`, () => {
    const {
      model: _model,
      messages: _messages,
      metadata: _metadata,
      tools: _tools,
      ...rest
    } = encode(chatRequest([user('a')], settings, { tools: [{ type: 'function', name: 'f' }] }), to).body;
    assert.deepEqual(rest, expected);
  });
}

// @spec reasoning-8
test('sampling is held back while a model thinks', () => {
  const settings: Settings = { maxTokens: 8_000, temperature: 0.2, topP: 0.96, topK: 5, reasoning: { effort: 'high' } };
  const { body } = encode(chatRequest([user('a')], settings), BUDGET);
  assert.deepEqual([body['temperature'], body['top_p'], body['top_k']], [undefined, 0.96, undefined]);
  const only = encode(
    chatRequest([user('a')], { ...settings, reasoning: {} }),
    target({ thinking: 'adaptive-only' }),
  ).body;
  assert.deepEqual([only['temperature'], only['top_p'], only['top_k']], [undefined, undefined, undefined]);
});

// @spec reasoning-19
test('thinking is left out where its beginning was lost', () => {
  const turns = [user('a'), assistant(call('x')), result('x', '1')];
  const request = chatRequest(turns, { maxTokens: 8_000, reasoning: { effort: 'high' } });
  assert.equal(encode(request, BUDGET).body['thinking'], undefined);
  const signed: Block = { type: 'reasoning', form: 'text', text: 'hm', signature: 's' };
  const kept = chatRequest([user('a'), assistant(signed, call('x')), result('x', '1')], request.settings);
  assert.deepEqual(encode(kept, BUDGET).body['thinking'], { type: 'enabled', budget_tokens: 6_400 });
});
