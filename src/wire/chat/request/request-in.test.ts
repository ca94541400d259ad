import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import { parseJson, type Json } from '../../../lib/json.ts';
import { decodeChat } from '../../../../tests/support/wire/chat/request.ts';

const USER = { role: 'user', content: 'hi' };

function decode(members: Readonly<Record<string, Json>>): GenerationRequest {
  return decodeChat({ messages: [USER], ...members });
}

function refusal(body: Json): GatewayError {
  try {
    decodeChat(body);
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.status, 400);
    return error;
  }
  return assert.fail('the request was accepted');
}

function refusedPath(body: Json): string | undefined {
  return refusal(body).issues?.[0]?.path;
}

/** Members of the body that are refused, with the path that the refusal names. */
const REFUSED: readonly (readonly [members: Record<string, Json>, path: string])[] = [
  [{ temperature: 2.1 }, 'temperature'],
  [{ temperature: -0.1 }, 'temperature'],
  [{ temperature: '1' }, 'temperature'],
  [{ top_p: 1.1 }, 'top_p'],
  [{ top_k: -1 }, 'top_k'],
  [{ top_k: 1.5 }, 'top_k'],
  [{ top_a: 1.1 }, 'top_a'],
  [{ min_p: -0.1 }, 'min_p'],
  [{ frequency_penalty: 2.1 }, 'frequency_penalty'],
  [{ presence_penalty: -2.1 }, 'presence_penalty'],
  [{ repetition_penalty: 0 }, 'repetition_penalty'],
  [{ repetition_penalty: 2.1 }, 'repetition_penalty'],
  [{ logit_bias: { 1: 101 } }, 'logit_bias["1"]'],
  [{ logprobs: true, top_logprobs: 21 }, 'top_logprobs'],
  [{ top_logprobs: 1 }, 'top_logprobs'],
  [{ logprobs: false, top_logprobs: 0 }, 'top_logprobs'],
  [{ max_tokens: 0 }, 'max_tokens'],
  [{ max_completion_tokens: 0 }, 'max_completion_tokens'],
  [{ stop: ['1', '2', '3', '4', '5'] }, 'stop'],
  [{ seed: 1.5 }, 'seed'],
  [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])) }, 'metadata'],
  [{ metadata: { ['k'.repeat(65)]: 'v' } }, `metadata.${'k'.repeat(65)}`],
  [{ metadata: { 'a[0]': 'v' } }, 'metadata["a[0]"]'],
  [{ metadata: { k: 'v'.repeat(513) } }, 'metadata.k'],
  [{ metadata: null }, 'metadata'],
  [{ session_id: 's'.repeat(257) }, 'session_id'],
  [{ modalities: ['video'] }, 'modalities[0]'],
  [{ modalities: ['audio'] }, 'modalities'],
  [{ tools: null }, 'tools'],
  [{ stream: null }, 'stream'],
  [{ response_format: { type: 'xml' } }, 'response_format.type'],
  [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
  [{ response_format: { type: 'json_schema', json_schema: { name: 'a b' } } }, 'response_format.json_schema.name'],
  [{ response_format: { type: 'grammar' } }, 'response_format.grammar'],
  [{ reasoning_effort: 'huge' }, 'reasoning_effort'],
  [{ reasoning_effort: 'low', reasoning: { effort: 'high' } }, 'reasoning_effort'],
  [{ reasoning: null }, 'reasoning'],
  [{ reasoning: { summary: 'long' } }, 'reasoning.summary'],
  [{ service_tier: 'gold' }, 'service_tier'],
  [{ cache_control: { type: 'eternal' } }, 'cache_control.type'],
  [{ cache_control: null }, 'cache_control'],
  [{ image_config: { size: true } }, 'image_config.size'],
  [{ prediction: { type: 'content' } }, 'prediction.content'],
  [{ prompt_cache_options: { mode: 'implicit' } }, 'prompt_cache_options.mode'],
  [{ tools: [{ type: 'service:nothing' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'service:bash' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'service:shell' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'service:tool_search' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'apply_patch' }] }, 'tools[0].type'],
  [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0].function.name'],
  [{ tools: [{ type: 'function', function: { name: 'f'.repeat(65) } }] }, 'tools[0].function.name'],
  [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
  [{ tools: [tool('f'), tool('g'), tool('f')] }, 'tools[2].function.name'],
  [{ tools: [tool('f')], tool_choice: { type: 'function', function: { name: 'g' } } }, 'tool_choice.function.name'],
  [{ tool_choice: 'any' }, 'tool_choice'],
  [{ tool_choice: null }, 'tool_choice'],
];

function tool(name: string): Json {
  return { type: 'function', function: { name } };
}

/** Messages that are refused, with the path below `messages`. */
const REFUSED_MESSAGES: readonly (readonly [message: Json, path: string])[] = [
  [{ role: 'narrator', content: 'x', name: 'f' }, '[0].role'],
  [{ content: 'x' }, '[0].role'],
  [{ role: 'user' }, '[0].content'],
  [{ role: 'system', content: null }, '[0].content'],
  [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://a/b.png' } }] }, '[0].content[0].type'],
  [{ role: 'user', content: [{ type: 'text' }] }, '[0].content[0].text'],
  [{ role: 'user', content: [{ type: 'hologram' }] }, '[0].content[0].type'],
  [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 42 } }] }, '[0].content[0].image_url.url'],
  [
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'u', detail: 'max' } }] },
    '[0].content[0].image_url.detail',
  ],
  [
    { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA' } }] },
    '[0].content[0].input_audio.format',
  ],
  [{ role: 'user', content: [{ type: 'file', file: { filename: 'a.pdf' } }] }, '[0].content[0].file'],
  [{ role: 'tool', content: 'x' }, '[0].tool_call_id'],
  [
    { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f' } }] },
    '[0].tool_calls[0].function.arguments',
  ],
  [
    { role: 'assistant', content: 'x', reasoning_details: [{ type: 'reasoning.encrypted' }] },
    '[0].reasoning_details[0].data',
  ],
  [
    { role: 'user', content: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '2h' } }] },
    '[0].content[0].cache_control.ttl',
  ],
];

suite('chat request: what is refused', () => {
  for (const [members, path] of REFUSED)
    // @spec chat-21, chat-22, chat-24, chat-29, chat-30, chat-32, chat-33, chat-34, chat-35, chat-40, chat-42
    test(`${JSON.stringify(members).slice(0, 100)} is refused at ${path.slice(0, 40)}`, () => {
      assert.equal(refusedPath({ messages: [USER], ...members }), path);
    });

  for (const [message, path] of REFUSED_MESSAGES)
    // @spec chat-2, chat-3, chat-4, chat-13
    test(`refuses the message ${JSON.stringify(message).slice(0, 100)} at ${path}`, () => {
      const error = refusal({ messages: [message] });
      assert.equal(error.issues?.[0]?.path, `messages${path}`);
      assert.equal(error.type, 'invalid_prompt');
    });

  // @spec chat-1
  test('messages that are missing, null or empty are refused', () => {
    for (const body of [{}, { messages: null }, { messages: [] }]) assert.equal(refusedPath(body), 'messages');
  });

  test('whatever JSON comes, it is decoded or refused with 400', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.boolean(), (text, wrapped) => {
        const value = parseJson(text) ?? null;
        try {
          decodeChat(wrapped ? { messages: [USER, value], tools: value, tool_choice: value } : value);
        } catch (error) {
          assert.ok(error instanceof GatewayError && error.status === 400, String(error));
        }
      }),
    );
  });
});

suite('chat request: what is accepted', () => {
  // @spec request-13
  test('null in a nullable field is the same as leaving it out', () => {
    const nullable = [
      'temperature', 'top_p', 'top_k', 'top_a', 'min_p', 'frequency_penalty', 'presence_penalty', 'repetition_penalty',
      'logit_bias', 'logprobs', 'top_logprobs', 'max_tokens', 'max_completion_tokens', 'stop', 'seed', 'verbosity',
      'parallel_tool_calls', 'reasoning_effort', 'service_tier', 'prompt_cache_key', 'prompt_cache_options',
      'stream_options', 'prediction', 'include_reasoning', 'audio', 'web_search_options', 'provider', 'route',
    ]; // prettier-ignore
    const nulls = Object.fromEntries(nullable.map((name) => [name, null]));
    assert.deepEqual(decode(nulls).settings, {});
    assert.equal(decode(nulls).extra, undefined);
  });

  // @spec chat-29
  test('accepts values at the limits', () => {
    const { settings } = decode({
      temperature: 2,
      top_p: 0,
      frequency_penalty: -2,
      presence_penalty: 2,
      repetition_penalty: 2,
      logprobs: true,
      top_logprobs: 20,
      stop: ['1', '2', '3', '4'],
      max_completion_tokens: 1,
      logit_bias: { '50256': -100 },
      seed: 2 ** 60,
    });
    assert.equal(settings.temperature, 2);
    assert.equal(settings.topLogprobs, 20);
    assert.equal(settings.stop?.length, 4);
  });

  // @spec chat-31
  test('max_completion_tokens wins over max_tokens, whose use is noted as deprecated', () => {
    const request = decode({ max_tokens: 5, max_completion_tokens: 7 });
    assert.equal(request.settings.maxTokens, 7);
    assert.deepEqual(
      request.warnings.map(({ path }) => path),
      ['max_tokens'],
    );
  });

  // @spec chat-39
  test('fast is the tier priority', () => {
    assert.equal(decode({ service_tier: 'fast' }).settings.serviceTier, 'priority');
  });

  // @spec chat-40, reasoning-1
  test('decodes the shorthand effort like the object', () => {
    assert.deepEqual(decode({ reasoning_effort: 'xhigh' }).settings.reasoning, { effort: 'xhigh' });
    assert.deepEqual(
      decode({ reasoning_effort: 'low', reasoning: { effort: 'low', exclude: true } }).settings.reasoning,
      {
        effort: 'low',
        exclude: true,
      },
    );
    assert.deepEqual(decode({ reasoning_effort: null, reasoning: { effort: 'low' } }).settings.reasoning, {
      effort: 'low',
    });
  });

  // @spec chat-41
  test('include_reasoning is an older way to say reasoning and its exclusion', () => {
    assert.deepEqual(decode({ include_reasoning: true }).settings.reasoning, {});
    assert.deepEqual(decode({ include_reasoning: false }).settings.reasoning, { exclude: true });
    assert.deepEqual(decode({ include_reasoning: false, reasoning: { effort: 'low' } }).settings.reasoning, {
      effort: 'low',
    });
  });

  // @spec chat-38, request-15
  test('usage, stream_options, user and n are the gateway own and leave no trace to send', () => {
    const request = decode({
      usage: { include: true },
      stream_options: { include_usage: true },
      user: 'u@x',
      n: 3,
      trace: { a: 1 },
    });
    assert.equal(request.extra, undefined);
    assert.equal(request.directives.user, 'u@x');
  });

  // @spec request-20
  test('takes safety_identifier for the end user before user, and leaves nothing of it to send', () => {
    for (const [members, expected] of [
      [{ user: 'u@x', safety_identifier: 's@x' }, 's@x'],
      [{ safety_identifier: 's@x' }, 's@x'],
      [{ user: 'u@x', safety_identifier: null }, 'u@x'],
    ] as const) {
      const request = decode(members);
      assert.equal(request.directives.user, expected);
      assert.equal(request.extra, undefined);
    }
  });

  // @spec chat-8
  test('accepts a tool result for an unknown call, which the encoder judges', () => {
    const { turns } = decodeChat({ messages: [USER, { role: 'tool', tool_call_id: 'x', content: 'r' }] });
    assert.deepEqual(turns[1]?.blocks, [
      { type: 'tool-result', callId: 'x', content: [{ type: 'text', text: 'r' }], plain: true },
    ]);
  });

  test('keeps unknown members on the object that held them', () => {
    const request = decodeChat({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x', a: 1 }], b: 2 }],
      tools: [{ type: 'function', function: { name: 'f', c: 3 }, d: 4 }],
      reasoning: { e: 5 },
      response_format: { type: 'json_schema', json_schema: { name: 'n', f: 6 }, g: 7 },
      safe_prompt: true,
    });
    const [turn] = request.turns;
    assert.deepEqual(turn?.blocks[0]?.extra?.fields, { a: 1 });
    assert.deepEqual(turn?.extra?.fields, { b: 2 });
    assert.deepEqual(request.tools[0], {
      type: 'function',
      name: 'f',
      extra: { format: 'chat', fields: { d: 4, function: { c: 3 } } },
    });
    assert.deepEqual(request.settings.reasoning?.extra?.fields, { e: 5 });
    assert.deepEqual(request.extra?.fields, { safe_prompt: true, response_format: { g: 7 } });
  });
});

suite('chat request: tools', () => {
  // @spec chat-25
  test('maps a web search by another name to the service tool, its own parameters above flat ones', () => {
    const { tools } = decode({
      tools: [{ type: 'web_search_preview', max_results: 3, engine: 'exa', parameters: { engine: 'native' } }],
    });
    assert.deepEqual(tools, [
      { type: 'server', name: 'service:web_search', parameters: { max_results: 3, engine: 'native' } },
    ]);
  });

  test('maps the sites of a web search by another name to those of the service tool', () => {
    const { tools } = decode({
      tools: [
        { type: 'web_search', filters: { allowed_domains: ['a.example'], blocked_domains: ['b.example'] } },
        { type: 'web_search_2025_08_26', filters: null, excluded_domains: ['c.example'] },
      ],
    });
    assert.deepEqual(
      tools.map((one) => (one.type === 'server' ? one.parameters : one)),
      [{ allowed_domains: ['a.example'], excluded_domains: ['b.example'] }, { excluded_domains: ['c.example'] }],
    );
  });

  test('keeps the parameters of a service tool', () => {
    const { tools } = decode({ tools: [{ type: 'service:datetime', parameters: { timezone: 'UTC' } }] });
    assert.deepEqual(tools, [{ type: 'server', name: 'service:datetime', parameters: { timezone: 'UTC' } }]);
  });

  // @spec chat-27
  test('distinguishes choices of a function, of a service tool and of allowed tools', () => {
    const tools = [tool('f')];
    assert.deepEqual(
      decode({ tools, tool_choice: { type: 'function', function: { name: 'f' } } }).settings.toolChoice,
      {
        type: 'function',
        name: 'f',
      },
    );
    const search = [{ type: 'web_search_preview' }];
    assert.deepEqual(decode({ tools: search, tool_choice: { type: 'web_search' } }).settings.toolChoice, {
      type: 'opaque',
      format: 'chat',
      value: { type: 'service:web_search' },
    });
    assert.throws(() => decode({ tools, tool_choice: { type: 'web_search' } }), /tool_choice\.type/);
    const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool('f')] } };
    assert.deepEqual(decode({ tools, tool_choice: allowed }).settings.toolChoice, {
      type: 'opaque',
      format: 'chat',
      value: allowed,
    });
  });
});

suite('chat request: assistant turns', () => {
  test('blocks stand in the order in which a model makes them', () => {
    const { turns } = decodeChat({
      messages: [
        USER,
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1.0}' } }],
          images: [{ image_url: { url: 'data:image/png;base64,AA' } }],
          refusal: 'no',
          content: 'text',
          reasoning: 'hm',
          model: 'acme/one',
        },
      ],
    });
    assert.deepEqual(
      turns[1]?.blocks.map(({ type }) => type),
      ['reasoning', 'text', 'refusal', 'media', 'tool-call'],
    );
    assert.equal(turns[1]?.model, 'acme/one');
    const call = turns[1]?.blocks.at(-1);
    assert.equal(call?.type === 'tool-call' && call.input, '{"a":1.0}');
  });

  // @spec chat-15, chat-17
  test('details win over the plain text that repeats them', () => {
    const { turns } = decodeChat({
      messages: [
        {
          role: 'assistant',
          content: 'x',
          reasoning: 'hm',
          reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 's' }],
        },
      ],
    });
    assert.deepEqual(turns[0]?.blocks[0], {
      type: 'reasoning',
      form: 'text',
      text: 'hm',
      signature: 's',
      carrier: 'reasoning_details',
      // What a signed entry without a format is assumed to be.
      family: 'anthropic-claude-v1',
    });
    assert.equal(turns[0]?.blocks.length, 2);
  });

  // @spec chat-18
  test('annotations belong to the text that they are about', () => {
    const annotation = {
      type: 'url_citation',
      url_citation: { url: 'https://a', title: 'A', start_index: 0, end_index: 4 },
    };
    const { turns } = decodeChat({ messages: [{ role: 'assistant', content: 'text', annotations: [annotation] }] });
    assert.deepEqual(turns[0]?.blocks, [
      { type: 'text', text: 'text', citations: [{ type: 'url', url: 'https://a', title: 'A', start: 0, end: 4 }] },
    ]);
  });

  // @spec chat-4, chat-10, chat-19
  test('warns of a deprecated part, an ignored name and a phase', () => {
    const { warnings, turns } = decodeChat({
      messages: [
        { role: 'user', content: [{ type: 'input_video', video_url: { url: 'https://a/v.mp4' } }] },
        { role: 'assistant', content: 'x', phase: 'commentary' },
        { role: 'tool', tool_call_id: 'x', content: 'r', name: 'f' },
      ],
    });
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['messages[0].content[0].type', 'messages[1].phase', 'messages[2].name'],
    );
    const [video] = turns[0]?.blocks ?? [];
    assert.equal(video?.type === 'media' && video.media, 'video');
  });
});

test('decodes a data URL to bytes, and keeps any other address', () => {
  const { turns } = decodeChat({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO', detail: 'high' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'https://a/b.pdf' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
          { type: 'file', file: { file_id: 'file-1' } },
        ],
      },
    ],
  });
  assert.deepEqual(
    turns[0]?.blocks.map((block) => block.type === 'media' && block.source),
    [
      { type: 'base64', mediaType: 'image/png', data: 'iVBO' },
      { type: 'url', url: 'https://a/b.pdf' },
      { type: 'base64', mediaType: 'audio/mp3', data: 'AAAA' },
      { type: 'file', fileId: 'file-1' },
    ],
  );
});
