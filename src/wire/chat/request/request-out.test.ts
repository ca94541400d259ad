import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Block } from '../../../canonical/blocks.ts';
import type { GenerationRequest, Turn } from '../../../canonical/request.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import type { Dialect, EncodedRequest } from '../../format.ts';
import { encodeRequest } from './request-out.ts';
import { objectOf, objectsOf } from '../../json-fields.ts';
import { decodeChat, PLAIN_TARGET } from '../../../../tests/support/wire/chat/request.ts';
import { plainDirectives } from '../../../../tests/support/plain-directives.ts';

const USER: Json = { role: 'user', content: 'hi' };

function encodeChat(
  members: Record<string, Json>,
  dialect: Dialect = {},
  supported?: readonly string[],
): EncodedRequest {
  return encodeRequest(decodeChat({ messages: [USER], ...members }), {
    ...PLAIN_TARGET,
    dialect,
    ...(supported !== undefined && { supportedParameters: new Set(supported) }),
  });
}

/** A request of a messages caller. */
function foreign(turns: readonly Turn[], rest: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'messages',
    delivery: 'whole',
    turns,
    tools: [],
    settings: {},
    directives: plainDirectives('acme/one'),
    warnings: [],
    ...rest,
  };
}

function messagesOf(turns: readonly Turn[], dialect: Dialect = {}): readonly JsonObject[] {
  return objectsOf(encodeRequest(foreign(turns), { ...PLAIN_TARGET, dialect }).body['messages']);
}

function droppedPaths(encoded: EncodedRequest): readonly string[] {
  return encoded.warnings.map(({ path }) => path);
}

function requestedEffort(reasoning: Json, members: Record<string, Json> = {}): unknown {
  return encodeChat({ reasoning, ...members }).body['reasoning_effort'];
}

function secondMessage(encoded: EncodedRequest): JsonObject | undefined {
  return objectsOf(encoded.body['messages'])[1];
}

const emit = (text: string): Block => ({ type: 'text', text });
const call = (id: string, input = '{}'): Block => ({ type: 'tool-call', id, name: `f_${id}`, input, runBy: 'caller' });
const result = (callId: string, ...content: readonly Block[]): Block => ({ type: 'tool-result', callId, content });
const user = (...blocks: readonly Block[]): Turn => ({ role: 'user', blocks });
const assistant = (...blocks: readonly Block[]): Turn => ({ role: 'assistant', blocks });

suite('chat dialects', () => {
  test('requests usage in a stream, unless the upstream does not know the option', () => {
    assert.deepEqual(encodeChat({ stream: true }).body['stream_options'], { include_usage: true });
    const plain = encodeChat({ stream: true }, { streamUsage: false }).body;
    assert.equal(plain['stream'], true);
    assert.equal('stream_options' in plain, false);
    assert.equal('stream' in encodeChat({ stream: false }).body, false);
  });

  test('sends the output limit under the name that the upstream knows', () => {
    assert.equal(encodeChat({ max_completion_tokens: 5 }).body['max_tokens'], 5);
    assert.equal(encodeChat({ max_tokens: 5 }, { maxCompletionTokens: true }).body['max_completion_tokens'], 5);
  });

  // @spec chat-5
  test('developer is system where the upstream knows only that', () => {
    const messages = [{ role: 'developer', content: 'be brief' }];
    assert.deepEqual(encodeChat({ messages }).body['messages'], [{ role: 'system', content: 'be brief' }]);
    assert.deepEqual(encodeChat({ messages }, { developerRole: true }).body['messages'], messages);
  });

  // @spec chat-6
  test('puts a name before the text where the upstream takes none', () => {
    const messages = [
      { role: 'user', content: 'hi', name: 'Ann' },
      { role: 'user', content: [{ type: 'text', text: 'ho' }], name: 'Bob' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }], name: 'Cid' },
    ];
    assert.deepEqual(encodeChat({ messages }).body['messages'], [
      { role: 'user', content: 'Ann: hi' },
      { role: 'user', content: [{ type: 'text', text: 'Bob: ho' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Cid:' },
          { type: 'image_url', image_url: { url: 'https://a/b.png' } },
        ],
      },
    ]);
    assert.deepEqual(encodeChat({ messages }, { messageNames: true }).body['messages'], messages);
  });

  // @spec request-20
  test('sends only the hash of the end user, in the member that the upstream has for it', () => {
    for (const members of [{ user: 'ann@example.com' }, { safety_identifier: 'ann@example.com' }]) {
      assert.doesNotMatch(JSON.stringify(encodeChat(members).body), /ann|hash-of-user/);
      const { body } = encodeChat(members, { endUserMember: 'safety_identifier' });
      assert.equal(body['safety_identifier'], 'hash-of-user');
    }
    assert.equal(encodeChat({}, { endUserMember: 'user' }).body['user'], 'hash-of-user');
  });

  // @spec prompt-cache-3
  test('cache marks are spelled as the upstream does, or left out', () => {
    const messages = [
      {
        role: 'user',
        content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h', scope: 'x' } }],
      },
    ];
    const members = { messages, cache_control: { type: 'ephemeral' } };
    const partOf = (dialect: Dialect): string => JSON.stringify(encodeChat(members, dialect).body);
    assert.doesNotMatch(partOf({}), /cache|scope/);
    assert.match(
      partOf({ cacheBreakpoints: 'prompt_cache_breakpoint' }),
      /"prompt_cache_breakpoint":\{"mode":"explicit"\}/,
    );
    assert.doesNotMatch(partOf({ cacheBreakpoints: 'prompt_cache_breakpoint' }), /cache_control/);
    assert.deepEqual(encodeChat(members, { cacheBreakpoints: 'cache_control' }).body['cache_control'], {
      type: 'ephemeral',
    });
  });
});

suite('chat dialects: reasoning', () => {
  test('sends the nearest effort to an effort-only upstream', () => {
    assert.equal(requestedEffort({ effort: 'high' }), 'high');
    assert.equal(requestedEffort({ effort: 'high', max_tokens: 10 }), 'high');
    assert.equal(requestedEffort({ enabled: true }), 'medium');
    assert.equal(requestedEffort({ enabled: false, effort: 'high' }), 'none');
    assert.equal(requestedEffort({ max_tokens: 0 }), 'none');
    assert.equal(requestedEffort({ max_tokens: 800 }, { max_completion_tokens: 1000 }), 'high');
    assert.equal(requestedEffort({ max_tokens: 150 }, { max_completion_tokens: 1000 }), 'minimal');
    assert.equal(requestedEffort({ max_tokens: 5000 }), 'medium');
    assert.equal(requestedEffort({ exclude: true }), undefined);
  });

  // @spec reasoning-13
  test('sends no setting to an upstream without it', () => {
    const { body } = encodeChat({ reasoning: { effort: 'high' } }, { reasoningSettings: 'none' });
    assert.deepEqual(Object.keys(body), ['model', 'messages']);
  });

  const TURN: Json = {
    role: 'assistant',
    content: 'x',
    reasoning: 'plain',
    reasoning_details: [
      { type: 'reasoning.text', text: 'plain', format: 'unknown' },
      { type: 'reasoning.text', text: 'signed', signature: 's', format: 'anthropic-claude-v1' },
      { type: 'reasoning.encrypted', data: 'e', format: 'openai-responses-v1' },
    ],
  };

  test('sends a signed entry without text back as it was', () => {
    const details = [{ type: 'reasoning.text', text: '', signature: 's', format: 'anthropic-claude-v1' }];
    const messages = [USER, { role: 'assistant', content: 'x', reasoning_details: details }];
    const sent = encodeChat({ messages }, { reasoningMember: 'reasoning_details' });
    assert.deepEqual(secondMessage(sent)?.['reasoning_details'], details);
  });

  test('summaries go back as one text that does not run together', () => {
    const details = ['One.', 'Two.'].map((summary) => ({ type: 'reasoning.summary', summary, format: 'unknown' }));
    const messages = [USER, { role: 'assistant', content: 'x', reasoning_details: details }];
    const sent = encodeChat({ messages }, { reasoningMember: 'reasoning_content' });
    assert.equal(secondMessage(sent)?.['reasoning_content'], 'One.\n\nTwo.');
  });

  // @spec reasoning-17
  test('earlier reasoning goes back only in the member that the upstream takes it in', () => {
    const sent = (dialect: Dialect): EncodedRequest => encodeChat({ messages: [USER, TURN] }, dialect);
    assert.deepEqual(secondMessage(sent({})), { role: 'assistant', content: 'x' });
    assert.deepEqual(droppedPaths(sent({})), ['messages[1].reasoning_details']);
    // What only its maker can read is no plain text.
    assert.deepEqual(secondMessage(sent({ reasoningMember: 'reasoning_content' })), {
      role: 'assistant',
      content: 'x',
      reasoning_content: 'plain',
    });
    assert.deepEqual(droppedPaths(sent({ reasoningMember: 'reasoning' })), ['messages[1].reasoning_details']);
    assert.deepEqual(secondMessage(sent({ reasoningMember: 'reasoning_details' })), TURN);
  });
});

suite('parameters that an endpoint lists', () => {
  // @spec route-20
  test('drops what the list omits with a warning, but warns of no unset option', () => {
    const encoded = encodeChat({ seed: 1, top_k: 2, tools: [tool('f')] }, {}, ['tools', 'seed']);
    assert.deepEqual(Object.keys(encoded.body), ['model', 'messages', 'seed', 'tools']);
    assert.deepEqual(droppedPaths(encoded), ['top_k']);
  });

  // @spec route-20
  test('limits, stop sequences, temperature and top_p are sent whatever the list says', () => {
    const encoded = encodeChat({ max_tokens: 1, stop: ['a'], temperature: 0, top_p: 1 }, {}, []);
    assert.deepEqual(encoded.warnings, []);
    assert.deepEqual(Object.keys(encoded.body), ['model', 'messages', 'max_tokens', 'temperature', 'top_p', 'stop']);
  });

  test('parameters outside of the vocabulary are not governed by the list', () => {
    const encoded = encodeChat({ prompt_cache_key: 'k', service_tier: 'flex', future: 1 }, {}, []);
    assert.equal(encoded.body['prompt_cache_key'], 'k');
    assert.equal(encoded.body['service_tier'], 'flex');
    assert.equal(encoded.body['future'], 1);
  });

  test('reasoning and a schema go by either of their names in the list', () => {
    const members = { reasoning_effort: 'low', response_format: { type: 'json_schema', json_schema: { name: 'n' } } };
    assert.deepEqual(encodeChat(members, {}, ['include_reasoning', 'structured_outputs']).warnings, []);
    assert.deepEqual(droppedPaths(encodeChat(members, {}, [])), ['response_format', 'reasoning_effort']);
  });

  test('leave out the choice of a tool where there are no tools', () => {
    const members = { tools: [tool('f')], tool_choice: 'required', parallel_tool_calls: false };
    const encoded = encodeChat(members, {}, ['tool_choice', 'parallel_tool_calls']);
    assert.deepEqual(Object.keys(encoded.body), ['model', 'messages']);
    assert.deepEqual(droppedPaths(encoded), ['tools', 'tool_choice', 'parallel_tool_calls']);
  });
});

function tool(name: string): Json {
  return { type: 'function', function: { name } };
}

suite('tools that a chat upstream cannot be offered', () => {
  test('service tools and tools of another format are left out with a warning', () => {
    const encoded = encodeRequest(
      foreign([user(emit('hi'))], {
        tools: [
          { type: 'opaque', format: 'messages', value: { type: 'computer_20250124', name: 'computer' } },
          { type: 'server', name: 'service:web_search' },
          { type: 'function', name: 'strange.name', parameters: { type: 'object' } },
        ],
        settings: { toolChoice: { type: 'function', name: 'computer' }, parallelToolCalls: false },
      }),
      PLAIN_TARGET,
    );
    assert.deepEqual(encoded.body['tools'], [
      { type: 'function', function: { name: 'strange_name_8804f38c', parameters: { type: 'object' } } },
    ]);
    assert.deepEqual([...(encoded.toolNames ?? [])], [['strange_name_8804f38c', 'strange.name']]);
    assert.deepEqual(droppedPaths(encoded), ['tools[0]', 'tools[1]', 'tool_choice']);
    assert.equal('tool_choice' in encoded.body, false);
    assert.equal(encoded.body['parallel_tool_calls'], false);
  });

  test('forces a forced function upstream', () => {
    const { body } = encodeRequest(
      foreign([user(emit('hi'))], {
        tools: [{ type: 'function', name: 'f' }],
        settings: { toolChoice: { type: 'function', name: 'f' } },
      }),
      PLAIN_TARGET,
    );
    assert.deepEqual(body['tool_choice'], { type: 'function', function: { name: 'f' } });
  });
});

suite('a conversation of the messages format', () => {
  test('system prompts become one system message, without the nonce that a client puts first', () => {
    const system: Turn = {
      role: 'system',
      blocks: [emit('x-anthropic-billing-header: cc_version=1; cch=abc;'), emit('You code.'), emit('Be brief.')],
    };
    assert.deepEqual(messagesOf([system, user(emit('hi'))]), [
      { role: 'system', content: 'You code.\n\nBe brief.' },
      { role: 'user', content: 'hi' },
    ]);
    assert.deepEqual(messagesOf([{ role: 'system', blocks: system.blocks.slice(0, 1) }, user(emit('hi'))]), [
      { role: 'user', content: 'hi' },
    ]);
  });

  test('keeps the text below the nonce', () => {
    const system: Turn = { role: 'system', blocks: [emit('x-anthropic-billing-header: a\nYou code.')], plain: true };
    assert.deepEqual(messagesOf([system]), [{ role: 'system', content: 'You code.' }]);
  });

  test('keeps the nonce of a chat caller as text', () => {
    const messages = [{ role: 'system', content: 'x-anthropic-billing-header: a' }, USER];
    assert.deepEqual(encodeChat({ messages }).body['messages'], messages);
  });

  test('marked system blocks stay parts where the upstream takes marks', () => {
    const system: Turn = { role: 'system', blocks: [{ ...emit('a'), cache: { kind: 'ephemeral' } }, emit('b')] };
    assert.deepEqual(messagesOf([system], { cacheBreakpoints: 'cache_control' }), [
      {
        role: 'system',
        content: [
          { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  // @spec translate-4
  test('results come right after their calls, in the order of the calls, before anything else', () => {
    const turns = [
      user(emit('go')),
      assistant(emit('I look.'), call('a'), call('b')),
      user(emit('meanwhile'), result('b', emit('B')), result('a', emit('A')), emit('next')),
    ];
    assert.deepEqual(messagesOf(turns), [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f_a', arguments: '{}' } },
          { id: 'b', type: 'function', function: { name: 'f_b', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'tool', tool_call_id: 'b', content: 'B' },
      { role: 'user', content: 'meanwhile\n\nnext' },
    ]);
  });

  // @spec translate-16
  test('pictures in results follow in one user message after all results', () => {
    const png: Block = {
      type: 'media',
      media: 'image',
      source: { type: 'base64', mediaType: 'image/png', data: 'AA' },
    };
    const turns = [
      assistant(call('a'), call('b')),
      user(result('a', emit('see'), png), result('b', png), emit('and?')),
    ];
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } };
    assert.deepEqual(messagesOf(turns), [
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f_a', arguments: '{}' } },
          { id: 'b', type: 'function', function: { name: 'f_b', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'see' },
      { role: 'tool', tool_call_id: 'b', content: 'The result is in the user message that follows.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Files of the result of f_a (a):' },
          image,
          { type: 'text', text: 'Files of the result of f_b (b):' },
          image,
          { type: 'text', text: 'and?' },
        ],
      },
    ]);
  });

  test('keeps images in the tool messages of a chat caller', () => {
    const image = { type: 'image_url', image_url: { url: 'https://a/b.png' } };
    const messages = [USER, { role: 'tool', tool_call_id: 'x', content: [image] }];
    assert.deepEqual(encodeChat({ messages }).body['messages'], messages);
  });

  test('marks a failed result', () => {
    const turns = [
      assistant(call('a')),
      user({ type: 'tool-result', callId: 'a', content: [emit('no such file')], failed: true }),
    ];
    assert.deepEqual(messagesOf(turns)[1], {
      role: 'tool',
      tool_call_id: 'a',
      content: 'Error: no such file',
    });
  });

  test('adds a result to a call without one, which hosts refuse, also at the end of the conversation', () => {
    const turns = [assistant(call('a'), call('b')), user(result('a', emit('A')), emit('go on'))];
    assert.deepEqual(
      messagesOf(turns).map((message) => message['content']),
      [null, 'A', 'Error: this call was not answered', 'go on'],
    );
    assert.deepEqual(
      messagesOf([assistant(call('a'))]).map((message) => message['content']),
      [null, 'Error: this call was not answered'],
    );
  });

  test('takes the last of two results, and refuses a result without a call', () => {
    const ghost = foreign([user(emit('go'), result('ghost', emit('boo')))]);
    assert.throws(() => encodeRequest(ghost, PLAIN_TARGET), /content\[1\]\.tool_use_id/);
    const encoded = encodeRequest(
      foreign([user(emit('go')), assistant(call('a')), user(result('a', emit('first')), result('a', emit('last')))]),
      PLAIN_TARGET,
    );
    assert.doesNotMatch(JSON.stringify(encoded.body), /first/);
    assert.deepEqual(droppedPaths(encoded), ['messages[2].content[0]']);
  });

  test('encodes a call without arguments with the empty object', () => {
    assert.match(JSON.stringify(messagesOf([assistant(call('a', ''))])), /"arguments":"\{\}"/);
  });

  test('omits blocks that another vendor signed, ran or invented, with a warning', () => {
    const encoded = encodeRequest(
      foreign([
        user(emit('hi')),
        assistant(
          { type: 'reasoning', form: 'text', text: 'hm', signature: 's', family: 'anthropic-claude-v1' },
          { type: 'tool-call', id: 'srv', name: 'web_search', input: '{}', runBy: 'upstream' },
          { type: 'opaque', format: 'messages', value: { type: 'web_search_tool_result' } },
          emit('answer'),
        ),
      ]),
      PLAIN_TARGET,
    );
    assert.deepEqual(secondMessage(encoded), { role: 'assistant', content: 'answer' });
    assert.deepEqual(droppedPaths(encoded), [
      'messages[1].content[1]',
      'messages[1].content[2]',
      'messages[1].content',
    ]);
  });

  // @spec translate-3
  test('turns of one role in a row become one message, and a text in pieces stays one text', () => {
    const cited: Block = { type: 'text', text: 'It is ', citations: [] };
    assert.deepEqual(
      messagesOf([user(emit('a')), user(emit('b')), assistant(cited, emit('blue.')), assistant(emit('!'))]),
      [
        { role: 'user', content: 'a\n\nb' },
        { role: 'assistant', content: 'It is blue.!' },
      ],
    );
  });

  // @spec translate-2
  test('keeps a system turn among the messages in its place', () => {
    const inline: Turn = { role: 'system', inline: true, blocks: [emit('new rule')] };
    assert.deepEqual(messagesOf([assistant(call('a')), user(result('a', emit('A'))), inline, user(emit('go'))]), [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f_a', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'A' },
      { role: 'system', content: 'new rule' },
      { role: 'user', content: 'go' },
    ]);
  });

  test('documents are files, or text with their title around it', () => {
    const pdf: Block = {
      type: 'media',
      media: 'document',
      source: { type: 'base64', mediaType: 'application/pdf', data: 'AA' },
    };
    const text: Block = {
      type: 'media',
      media: 'document',
      name: 'The "plan"',
      source: { type: 'text', mediaType: 'text/plain', text: 'step 1' },
    };
    const parts: Block = {
      type: 'media',
      media: 'document',
      source: { type: 'blocks', blocks: [emit('p1'), emit('p2')] },
    };
    assert.deepEqual(messagesOf([user(pdf, text, parts)]), [
      {
        role: 'user',
        content: [
          { type: 'file', file: { file_data: 'data:application/pdf;base64,AA', filename: 'document.pdf' } },
          { type: 'text', text: '<document title="The \'plan\'">\nstep 1\n</document>' },
          { type: 'text', text: '<document>\np1\n\np2\n</document>' },
        ],
      },
    ]);
  });

  test('empty texts go, unless nothing else is there', () => {
    assert.deepEqual(messagesOf([user(emit(''), emit('x'))]), [{ role: 'user', content: 'x' }]);
    const content = [
      { type: 'text', text: '' },
      { type: 'text', text: 'x' },
    ];
    assert.deepEqual(encodeChat({ messages: [{ role: 'user', content }] }).body['messages'], [
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
    ]);
    const empty = [{ role: 'user', content: '' }];
    assert.deepEqual(encodeChat({ messages: empty }).body['messages'], empty);
  });

  test('names a schema without a name, and sends tiers under the names of this format', () => {
    const { body } = encodeRequest(
      foreign([user(emit('hi'))], {
        settings: {
          responseFormat: { type: 'json_schema', schema: { type: 'object' } },
          serviceTier: 'standard_only',
          reasoning: { adaptive: true },
        },
      }),
      PLAIN_TARGET,
    );
    assert.deepEqual(body['response_format'], {
      type: 'json_schema',
      json_schema: { name: 'response', schema: { type: 'object' } },
    });
    assert.equal(body['service_tier'], 'default');
    assert.equal(body['reasoning_effort'], 'medium');
  });

  test('sends no content for an empty text beside calls', () => {
    const turn = {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    assert.deepEqual(encodeChat({ messages: [USER, turn] }).body['messages'], [USER, { ...turn, content: null }]);
  });
});

// @spec chat-11
test('sends the original resolution to upstreams that know it, and the highest known one to others', () => {
  const requested = (detail: string, dialect: Dialect): unknown => {
    const content = [{ type: 'image_url', image_url: { url: 'https://x/y.png', detail } }];
    const [message] = objectsOf(encodeChat({ messages: [{ role: 'user', content }] }, dialect).body['messages']);
    return objectOf(objectsOf(message?.['content'])[0]?.['image_url'])?.['detail'];
  };
  assert.equal(requested('original', { originalDetail: true }), 'original');
  assert.equal(requested('original', {}), 'high');
  assert.equal(requested('low', {}), 'low');
});

test('sends not even a plain response_format where the list omits it', () => {
  assert.equal(encodeChat({ response_format: { type: 'text' } }, {}, ['tools']).body['response_format'], undefined);
  assert.deepEqual(encodeChat({ response_format: { type: 'text' } }).body['response_format'], { type: 'text' });
});
