import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { clientFormat, decode, decodeText, refusal } from '../../../../tests/support/wire/messages/request.ts';

const HI = { messages: [{ role: 'user', content: 'hi' }] };
const TOOL = { name: 'f', input_schema: { type: 'object' } };

/** Each body breaks one rule; the refusal names the member. @spec messages-1 */
const REFUSED: readonly (readonly [string, unknown, string])[] = [
  ['a body that is not an object', [], 'body'],
  ['messages missing', { model: 'acme/one' }, 'messages'],
  ['messages null', { messages: null }, 'messages'],
  ['messages empty', { messages: [] }, 'messages'],
  ['an unknown role', { messages: [{ role: 'tool', content: 'a' }] }, 'messages[0].role'],
  ['content missing', { messages: [{ role: 'user' }] }, 'messages[0].content'],
  ['content null', { messages: [{ role: 'user', content: null }] }, 'messages[0].content'],
  ['a block without a type', block({ text: 'a' }), 'messages[0].content[0].type'],
  ['text missing', block({ type: 'text' }), 'messages[0].content[0].text'],
  [
    'a source of an unknown type',
    block({ type: 'image', source: { type: 'zip' } }),
    'messages[0].content[0].source.type',
  ],
  [
    'an image of an unknown media type',
    block({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: '' } }),
    'messages[0].content[0].source.media_type',
  ],
  ['a thinking block without signature', block({ type: 'thinking', thinking: '' }), 'messages[0].content[0].signature'],
  ['a tool call without name', block({ type: 'tool_use', id: 'a' }), 'messages[0].content[0].name'],
  [
    'a broken block inside a tool result',
    block({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 1 }] }),
    'messages[0].content[0].content[0].text',
  ],
  [
    'an unknown time to live',
    block({ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '2h' } }),
    'messages[0].content[0].cache_control.ttl',
  ],
  [
    'a citation without its text',
    block({
      type: 'text',
      text: 'a',
      citations: [{ type: 'web_search_result_location', url: 'u', encrypted_index: 'e' }],
    }),
    'messages[0].content[0].citations[0].cited_text',
  ],
  [
    'a tool change of a user',
    block({ type: 'tool_removal', tool: { type: 'tool_reference', name: 'f' } }),
    'messages[0].content[0].type',
  ],
  ['an image in the system prompt', { ...HI, system: [{ type: 'image' }] }, 'system[0].type'],
  ['max_tokens below 1', { ...HI, max_tokens: 0 }, 'max_tokens'],
  ['max_tokens null', { ...HI, max_tokens: null }, 'max_tokens'],
  ['max_tokens with a fraction', { ...HI, max_tokens: 1.5 }, 'max_tokens'],
  ['temperature above 2', { ...HI, temperature: 2.1 }, 'temperature'],
  ['temperature below 0', { ...HI, temperature: -0.1 }, 'temperature'],
  ['top_p above 1', { ...HI, top_p: 1.1 }, 'top_p'],
  ['top_k below 0', { ...HI, top_k: -1 }, 'top_k'],
  ['stop_sequences that are no list', { ...HI, stop_sequences: 'a' }, 'stop_sequences'],
  ['model null', { ...HI, model: null }, 'model'],
  ['stream that is no boolean', { ...HI, stream: 'yes' }, 'stream'],
  ['user too long', { ...HI, user: 'u'.repeat(257) }, 'user'],
  ['user null', { ...HI, user: null }, 'user'],
  ['session_id too long', { ...HI, session_id: 's'.repeat(257) }, 'session_id'],
  ['session_id null', { ...HI, session_id: null }, 'session_id'],
  ['cache_control null', { ...HI, cache_control: null }, 'cache_control'],
  ['cache_control of an unknown type', { ...HI, cache_control: { type: 'persistent' } }, 'cache_control.type'],
  ['speed unknown', { ...HI, speed: 'ludicrous' }, 'speed'],
  ['effort unknown', { ...HI, output_config: { effort: 'none' } }, 'output_config.effort'],
  [
    'a format that is no schema',
    { ...HI, output_config: { format: { type: 'json_object' } } },
    'output_config.format.type',
  ],
  [
    'a task budget too small',
    { ...HI, output_config: { task_budget: { type: 'tokens', total: 19_999 } } },
    'output_config.task_budget.total',
  ],
  ['thinking of an unknown type', { ...HI, thinking: { type: 'deep' } }, 'thinking.type'],
  ['thinking without budget', { ...HI, thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
  ['more than 3 fallbacks', { ...HI, fallbacks: ['a', 'b', 'c', 'd'].map((model) => ({ model })) }, 'fallbacks'],
  ['a fallback with another member', { ...HI, fallbacks: [{ model: 'a', provider: {} }] }, 'fallbacks[0].provider'],
  ['fallbacks with models', { ...HI, fallbacks: [{ model: 'a' }], models: ['b'] }, 'fallbacks'],
  ['an unknown member of provider', { ...HI, provider: { ordr: ['a'] } }, 'provider.ordr'],
  ['a tool without schema', { ...HI, tools: [{ name: 'f' }] }, 'tools[0].input_schema'],
  ['a tool without name', { ...HI, tools: [{ input_schema: {} }] }, 'tools[0].name'],
  ['two tools of one name', { ...HI, tools: [TOOL, TOOL] }, 'tools[1].name'],
  ['apply_patch', { ...HI, tools: [{ type: 'service:apply_patch' }] }, 'tools[0].type'],
  ['an unknown service tool', { ...HI, tools: [{ type: 'service:teleport' }] }, 'tools[0].type'],
  [
    'a tool search that is hidden itself',
    { ...HI, tools: [{ type: 'tool_search_tool_bm25_20251119', name: 't', defer_loading: true }] },
    'tools[0].defer_loading',
  ],
  [
    'a tool search that hides itself',
    { ...HI, tools: [{ type: 'service:tool_search', defer_loading: true }] },
    'tools[0].defer_loading',
  ],
  [
    'web search with a wrong location',
    { ...HI, tools: [{ type: 'web_search_20250305', name: 'web_search', user_location: { type: 'exact' } }] },
    'tools[0].user_location.type',
  ],
  ...['web_search_20250305', 'web_search_20260209'].map((type): readonly [string, unknown, string] => [
    `${type} for an unknown caller`,
    { ...HI, tools: [{ type, name: 'web_search', allowed_callers: ['direct', 'everyone'] }] },
    'tools[0].allowed_callers[1]',
  ]),
  ['an advisor without model', { ...HI, tools: [{ type: 'advisor_20260301', name: 'advisor' }] }, 'tools[0].model'],
  [
    'a choice of an unknown tool',
    { ...HI, tools: [TOOL], tool_choice: { type: 'tool', name: 'g' } },
    'tool_choice.name',
  ],
  ['a choice of an unknown type', { ...HI, tools: [TOOL], tool_choice: { type: 'required' } }, 'tool_choice.type'],
  [
    'a forced choice beside tool search',
    { ...HI, tools: [{ type: 'service:tool_search' }], tool_choice: { type: 'any' } },
    'tool_choice.type',
  ],
  [
    'a stop condition without value',
    { ...HI, stop_server_tools_when: [{ type: 'step_count_is' }] },
    'stop_server_tools_when[0].step_count',
  ],
  [
    'one stop condition outside a list',
    { ...HI, stop_server_tools_when: { type: 'step_count_is', step_count: 1 } },
    'stop_server_tools_when',
  ],
  ['an empty list of stop conditions', { ...HI, stop_server_tools_when: [] }, 'stop_server_tools_when'],
];

function block(value: unknown): unknown {
  return { messages: [{ role: 'user', content: [value] }] };
}

for (const [rule, body, path] of REFUSED) {
  // @spec messages-1, messages-2, messages-3, messages-9, messages-11, messages-13, messages-22, tool-41
  test(`${rule} is refused by name`, () => {
    const error = refusal(body);
    assert.equal(error.status, 400);
    assert.equal(error.issues?.[0]?.path, path);
    assert.equal(error.type, path.startsWith('messages') ? 'invalid_prompt' : 'invalid_request');
  });
}

test('allows calls of a web search by the model and by any code execution', () => {
  const allowed_callers = ['direct', 'code_execution_20250825', 'code_execution_20260120', 'code_execution_20260521'];
  const search = { type: 'web_search_20260209', name: 'web_search', allowed_callers };
  assert.deepEqual(decode({ ...HI, tools: [search] }).tools, [{ type: 'opaque', format: 'messages', value: search }]);
});

test('refuses any JSON with nothing but a 400', () => {
  const member = fc.constantFrom(
    'messages',
    'system',
    'tools',
    'tool_choice',
    'thinking',
    'output_config',
    'fallbacks',
    'metadata',
  );
  const wire = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(member, fc.jsonValue()),
    fc.record({ messages: fc.array(fc.record({ role: fc.constant('user'), content: fc.array(fc.jsonValue()) })) }),
  );
  fc.assert(
    fc.property(wire, (body) => {
      try {
        decode(body);
      } catch (error) {
        assert.ok(error instanceof GatewayError && error.status === 400, String(error));
      }
    }),
    { numRuns: 300 },
  );
});

test('refuses a body nested too deeply with 400', () => {
  const depth = 50_000;
  const input = `${'['.repeat(depth)}1.0${']'.repeat(depth)}`;
  const text = `{"messages":[{"role":"user","content":[{"type":"tool_use","id":"a","name":"f","input":${input}}]}]}`;
  assert.throws(
    () => decodeText(text),
    (error) => error instanceof GatewayError && error.status === 400,
  );
});

// @spec messages-1
test('accepts a request without a model, which gets the default later', () => {
  assert.deepEqual(decode(HI).directives.models, []);
  assert.deepEqual(decode({ ...HI, model: 'a/b', fallbacks: [{ model: 'c/d' }] }).directives.models, ['a/b', 'c/d']);
});

// @spec messages-4
test('puts the system prompt first, and keeps one among the messages in its place', () => {
  const { turns } = decode({
    system: 'be brief',
    messages: [
      { role: 'user', content: 'a' },
      { role: 'system', content: 'b' },
    ],
  });
  assert.deepEqual(turns, [
    { role: 'system', blocks: [{ type: 'text', text: 'be brief' }], plain: true },
    { role: 'user', blocks: [{ type: 'text', text: 'a' }], plain: true },
    { role: 'system', blocks: [{ type: 'text', text: 'b' }], plain: true, inline: true },
  ]);
});

// @spec messages-5, messages-6
test('content blocks become canonical blocks, and unknown kinds stay whole', () => {
  const { turns } = decode({
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'ZGF0YQ==' },
          { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {}, caller: { type: 'direct' } },
          { type: 'kind_of_the_future', n: 1, cache_control: { type: 'ephemeral', ttl: '1h' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'done', is_error: true },
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'words' },
            title: 'T',
            citations: { enabled: true },
          },
        ],
      },
    ],
  });
  assert.deepEqual(turns[0]?.blocks, [
    { type: 'reasoning', form: 'text', text: 'hm', signature: 'c2ln', family: 'anthropic-claude-v1' },
    { type: 'reasoning', form: 'encrypted', text: 'ZGF0YQ==', family: 'anthropic-claude-v1' },
    { type: 'tool-call', id: 'toolu_1', name: 'f', input: '{"a":1}', runBy: 'caller' },
    {
      type: 'tool-call',
      id: 'srvtoolu_1',
      name: 'web_search',
      input: '{}',
      runBy: 'upstream',
      extra: { format: 'messages', fields: { caller: { type: 'direct' } } },
    },
    {
      type: 'opaque',
      format: 'messages',
      value: { type: 'kind_of_the_future', n: 1 },
      cache: { kind: 'ephemeral', ttl: '1h' },
    },
  ]);
  assert.deepEqual(turns[1]?.blocks, [
    { type: 'tool-result', callId: 'toolu_1', content: [{ type: 'text', text: 'done' }], plain: true, failed: true },
    {
      type: 'media',
      media: 'document',
      source: { type: 'text', mediaType: 'text/plain', text: 'words' },
      name: 'T',
      extra: { format: 'messages', fields: { citations: { enabled: true } } },
    },
  ]);
});

// @spec messages-17, messages-18
test('distinguishes functions, tools of the gateway, and tools of the vendor', () => {
  const { tools } = decode({
    ...HI,
    tools: [
      {
        name: 'f',
        description: 'd',
        input_schema: { type: 'object' },
        strict: true,
        cache_control: { type: 'ephemeral' },
      },
      { type: 'service:web_search', parameters: { max_results: 3 } },
      { type: 'bash_20250124', name: 'bash' },
    ],
  });
  assert.deepEqual(tools, [
    {
      type: 'function',
      name: 'f',
      description: 'd',
      parameters: { type: 'object' },
      strict: true,
      cache: { kind: 'ephemeral' },
    },
    { type: 'server', name: 'service:web_search', parameters: { max_results: 3 } },
    { type: 'opaque', format: 'messages', value: { type: 'bash_20250124', name: 'bash' } },
  ]);
});

function choose(tool_choice: unknown) {
  return decode({ ...HI, tools: [TOOL], tool_choice }).settings;
}

// @spec messages-23
test('tool_choice becomes canonical, with parallel calls beside it', () => {
  assert.deepEqual(choose({ type: 'any', disable_parallel_tool_use: true }), {
    toolChoice: { type: 'required' },
    parallelToolCalls: false,
  });
  assert.deepEqual(choose({ type: 'tool', name: 'f' }), { toolChoice: { type: 'function', name: 'f' } });
  assert.deepEqual(choose({ type: 'none' }), { toolChoice: { type: 'none' } });
});

// @spec messages-7, messages-10
test('settings are named in canonical words', () => {
  const { settings, delivery } = decode({
    ...HI,
    stream: true,
    max_tokens: 9,
    temperature: 0.5,
    top_p: 0.9,
    top_k: 3,
    stop_sequences: ['a'],
    thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' },
    output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
    speed: 'fast',
    cache_control: { type: 'ephemeral', ttl: '1h' },
  });
  assert.equal(delivery, 'stream');
  assert.deepEqual(settings, {
    maxTokens: 9,
    temperature: 0.5,
    topP: 0.9,
    topK: 3,
    stop: ['a'],
    reasoning: { effort: 'high', enabled: true, maxTokens: 2_000, display: 'omitted' },
    responseFormat: { type: 'json_schema', schema: { type: 'object' } },
    serviceTier: 'priority',
    cache: { kind: 'ephemeral', ttl: '1h' },
  });
  assert.deepEqual(decode({ ...HI, thinking: { type: 'adaptive' } }).settings.reasoning, {
    enabled: true,
    adaptive: true,
  });
  assert.deepEqual(decode({ ...HI, thinking: { type: 'disabled' } }).settings.reasoning, { enabled: false });
});

// @spec messages-12
test('takes user as the end user, else metadata.user_id', () => {
  assert.equal(decode({ ...HI, metadata: { user_id: 'vendor' } }).directives.user, 'vendor');
  assert.equal(decode({ ...HI, user: 'own', metadata: { user_id: 'vendor' } }).directives.user, 'own');
});

// @spec stream-27
test('sends a whole ping as the keep-alive', () => {
  assert.equal(clientFormat.id, 'messages');
  assert.equal(clientFormat.keepAlive, 'event: ping\ndata: {"type":"ping"}\n\n');
});
