import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../../lib/json.ts';
import { mergePreset, findPreset } from './merge-preset.ts';
import { decodePreset } from './preset-config.ts';

const messages = [{ role: 'user', content: 'hi' }];
const fn = (name: string, description: string): JsonObject => ({ type: 'function', function: { name, description } });
const inChat = (body: JsonObject, preset: JsonObject) => mergePreset('chat', body, preset).body;
const inMessages = (body: JsonObject, preset: JsonObject) => mergePreset('messages', body, preset).body;

suite('which preset is meant', () => {
  for (const [title, body, found] of [
    ['alone as the model', { model: '@preset/p' }, { slug: 'p', body: { preset: 'p' } }],
    ['behind a model', { model: 'acme/one@preset/p' }, { slug: 'p', body: { model: 'acme/one', preset: 'p' } }],
    ['beside a model', { model: 'acme/one', preset: 'p' }, { slug: 'p', body: { model: 'acme/one', preset: 'p' } }],
    ['twice, and the same', { model: '@preset/p', preset: 'p' }, { slug: 'p', body: { preset: 'p' } }],
    ['not at all', { model: 'acme/one' }, undefined],
    ['as nothing', { model: 'acme/one', preset: null }, undefined],
    ['in no way that anybody knows', { model: 3, preset: {} }, undefined],
  ] as const)
    test(title, () => assert.deepEqual(findPreset(body), found));

  // @spec preset-6
  test('are refused where two differ', () => {
    assert.throws(() => findPreset({ model: 'acme/one@preset/p', preset: 'q' }), /preset: is another preset/);
  });
});

suite('merging', () => {
  // @spec preset-8
  test('replaces a whole member of the preset with that of the request', () => {
    assert.deepEqual(
      inChat(
        { messages, provider: { zdr: true }, temperature: 0 },
        { provider: { order: ['a'], only: ['a'] }, temperature: 1, top_p: 0.5 },
      ),
      { messages, provider: { zdr: true }, temperature: 0, top_p: 0.5 },
    );
  });

  // @spec preset-8
  test('drops a member of the preset that the request has under another name', () => {
    assert.deepEqual(inChat({ messages, max_tokens: 5 }, { max_completion_tokens: 9 }), { messages, max_tokens: 5 });
    assert.deepEqual(inChat({ messages, reasoning_effort: 'low' }, { reasoning: { max_tokens: 9 } }), {
      messages,
      reasoning_effort: 'low',
    });
    assert.deepEqual(inMessages({ messages, fallbacks: [{ model: 'a/b' }] }, { models: ['c/d'] }), {
      messages,
      fallbacks: [{ model: 'a/b' }],
    });
  });

  // @spec preset-9
  test('tools are united: the same replaced where it stands, new ones at the end', () => {
    assert.deepEqual(
      inChat({ messages, tools: [fn('b', 'new'), fn('c', 'new')] }, { tools: [fn('a', 'old'), fn('b', 'old')] }),
      { messages, tools: [fn('a', 'old'), fn('b', 'new'), fn('c', 'new')] },
    );
  });

  // @spec preset-9
  test('server tools are the same by type, advisors and subagents also by name', () => {
    const advisor = (name: string, model: string): JsonObject => ({
      type: 'service:advisor',
      parameters: { name, model },
    });
    const search = (max: number): JsonObject => ({ type: 'service:web_search', parameters: { max } });
    assert.deepEqual(
      inChat(
        { messages, tools: [search(2), advisor('law', 'new')] },
        { tools: [search(1), advisor('law', 'old'), advisor('tax', 'old')] },
      )['tools'],
      [search(2), advisor('law', 'new'), advisor('tax', 'old')],
    );
  });

  test('MCP servers are the same by the server that is named', () => {
    const mcp = (server: string, allowed: string): JsonObject => ({
      type: 'service:mcp',
      parameters: { server, allowed_tools: [allowed] },
    });
    assert.deepEqual(
      inChat({ messages, tools: [mcp('b', 'new')] }, { tools: [mcp('a', 'old'), mcp('b', 'old')] })['tools'],
      [mcp('a', 'old'), mcp('b', 'new')],
    );
  });

  test('keeps the tools of the preset where the request has none', () => {
    for (const body of [{ messages }, { messages, tools: [] }, { messages, tools: null }])
      assert.deepEqual(inChat(body, { tools: [fn('a', 'old')] })['tools'], [fn('a', 'old')]);
  });

  test('leaves faults of the request to its format', () => {
    assert.deepEqual(inChat({ messages, tools: 'all' }, { tools: [fn('a', 'old')] })['tools'], 'all');
  });

  test('adds no cache settings to a request', () => {
    assert.deepEqual(inChat({ messages }, { cache_enabled: false, cache_ttl_seconds: 60 }), { messages });
  });
});

suite('a preset of the other format', () => {
  test('is said in the words of messages', () => {
    const { body, dropped } = mergePreset(
      'messages',
      { messages },
      {
        max_completion_tokens: 100,
        stop: 'END',
        seed: 7,
        reasoning: { max_tokens: 2_000 },
        tool_choice: 'required',
        tools: [{ type: 'function', function: { name: 'a', parameters: { type: 'object' } } }],
        response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
      },
    );
    assert.deepEqual(body, {
      messages,
      max_tokens: 100,
      stop_sequences: ['END'],
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      tool_choice: { type: 'any' },
      tools: [{ name: 'a', input_schema: { type: 'object' } }],
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    });
    assert.deepEqual(dropped, ['seed']);
  });

  test('is said in the words of chat', () => {
    const { body, dropped } = mergePreset(
      'chat',
      { messages },
      {
        max_tokens: 100,
        stop_sequences: ['END'],
        thinking: { type: 'enabled', budget_tokens: 2_000 },
        output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
        fallbacks: [{ model: 'acme/two' }],
        speed: 'fast',
        tool_choice: { type: 'tool', name: 'a' },
        tools: [
          { name: 'a', description: 'A', input_schema: { type: 'object' } },
          { type: 'bash_20250124', name: 'bash' },
        ],
      },
    );
    assert.deepEqual(body, {
      messages,
      max_tokens: 100,
      stop: ['END'],
      reasoning: { max_tokens: 2_000 },
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
      models: ['acme/two'],
      tool_choice: { type: 'function', function: { name: 'a' } },
      tools: [{ type: 'function', function: { name: 'a', description: 'A', parameters: { type: 'object' } } }],
    });
    assert.deepEqual(dropped, ['tools[1]', 'speed']);
  });

  test('effort and thinking without a budget go both ways', () => {
    assert.deepEqual(inMessages({ messages }, { reasoning: { effort: 'low' } })['output_config'], { effort: 'low' });
    assert.deepEqual(inMessages({ messages }, { reasoning: { enabled: false } })['thinking'], { type: 'disabled' });
    assert.deepEqual(inChat({ messages }, { output_config: { effort: 'low' } })['reasoning'], { effort: 'low' });
    assert.deepEqual(inChat({ messages }, { thinking: { type: 'adaptive' } })['reasoning'], { enabled: true });
    assert.equal(inChat({ messages }, { thinking: {} })['reasoning'], undefined);
  });
});

suite('a preset and the responses format', () => {
  const schema = { type: 'object' };
  const ofChat = {
    max_completion_tokens: 9,
    verbosity: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'list', schema } },
    tools: [{ type: 'function', function: { name: 'ls', parameters: schema } }],
    audio: { voice: 'a' },
  };
  const own = {
    max_output_tokens: 9,
    text: { verbosity: 'low', format: { type: 'json_schema', name: 'list', schema } },
    tools: [
      { type: 'function', name: 'ls', parameters: schema },
      { type: 'custom', name: 'patch' },
    ],
    tool_choice: { type: 'function', name: 'ls' },
    include: ['reasoning.encrypted_content'],
  };

  test('take what was written for chat', () => {
    const { body, dropped } = mergePreset('responses', {}, ofChat);
    assert.deepEqual(body, { max_completion_tokens: 9, text: own.text, tools: ofChat.tools });
    assert.deepEqual(dropped, ['audio']);
  });

  test('give chat what it has a field for', () => {
    const { body, dropped } = mergePreset('chat', {}, own);
    assert.deepEqual(body, {
      max_tokens: 9,
      verbosity: 'low',
      response_format: ofChat.response_format,
      tools: ofChat.tools,
      tool_choice: { type: 'function', function: { name: 'ls' } },
    });
    assert.deepEqual(dropped, ['tools[1]', 'include']);
  });

  test('give messages what it has a field for', () => {
    const { body } = mergePreset('messages', {}, own);
    assert.deepEqual(body['tools'], [{ name: 'ls', input_schema: schema }]);
    assert.deepEqual(body['tool_choice'], { type: 'tool', name: 'ls' });
    assert.deepEqual(body['output_config'], { format: { type: 'json_schema', schema } });
    assert.equal(body['max_tokens'], 9);
  });

  test('keep settings, instructions, and those among the items', () => {
    const input = [
      { role: 'developer', content: [{ type: 'input_text', text: 'Be kind.' }] },
      { role: 'user', content: 'Hello' },
    ];
    assert.deepEqual(decodePreset('responses', { model: 'a', instructions: 'Be brief.', input, store: true, ...own }), {
      config: { model: 'a', ...own },
      systemPrompt: 'Be brief.\n\nBe kind.',
    });
  });
});

suite('what a preset keeps of a request', () => {
  // @spec preset-2
  test('settings and instructions, and nothing of the conversation', () => {
    assert.deepEqual(
      decodePreset('chat', {
        model: 'acme/one',
        temperature: 0.2,
        seed: null,
        stream: true,
        user: 'u',
        session_id: 's',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
          { role: 'user', content: 'hi' },
        ],
      }),
      { config: { model: 'acme/one', temperature: 0.2 }, systemPrompt: 'Be brief.\n\nBe kind.' },
    );
    assert.deepEqual(
      decodePreset('messages', {
        model: 'acme/one',
        max_tokens: 5,
        messages,
        system: [{ type: 'text', text: 'Be brief.' }],
      }),
      { config: { model: 'acme/one', max_tokens: 5 }, systemPrompt: 'Be brief.' },
    );
    assert.equal(decodePreset('chat', { messages }).systemPrompt, null);
  });

  test('refuses a preset inside a preset', () => {
    for (const body of [{ model: '@preset/p' }, { models: ['acme/one', 'acme/two@preset/p'] }, { preset: 'p' }])
      assert.throws(() => decodePreset('chat', { messages, ...body }), /preset/);
  });

  // @spec preset-12
  test('checks and keeps cache settings', () => {
    for (const body of [{ cache_enabled: 1 }, { cache_ttl_seconds: 0 }, { cache_ttl_seconds: 86_401 }])
      assert.throws(() => decodePreset('chat', { messages, ...body }), /cache_/);
    const { config } = decodePreset('chat', { messages, cache_enabled: true, cache_ttl_seconds: 300 });
    assert.deepEqual(config, { cache_enabled: true, cache_ttl_seconds: 300 });
  });
});
