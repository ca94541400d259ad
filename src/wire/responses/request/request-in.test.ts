import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { z } from 'zod';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { GenerationRequest } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { createSecretBox, secretFrom } from '../../../lib/secret-box.ts';
import type { DecodeContext } from '../../format.ts';
import { decodeHeaderDirectives } from '../../gateway/headers.ts';
import { createContainers } from '../containers.ts';
import { createResponsesRequestDecoder } from './request-in.ts';

const plugin = z
  .looseObject({ id: z.string() })
  .transform(({ id, ...options }) => ({ id, enabled: true, options: z.record(z.string(), z.json()).parse(options) }));
const containers = createContainers(createSecretBox([secretFrom('one')]));
const decodeBody = createResponsesRequestDecoder({ plugin, containers });
const HELLO = { model: 'acme/chat', input: 'Hello' };

interface DecodeOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly context?: Partial<DecodeContext>;
}

function decode(body: JsonObject, { headers = {}, context = {} }: DecodeOptions = {}): GenerationRequest {
  return decodeBody(body, JSON.stringify(body), decodeHeaderDirectives(headers), { accountId: 'acc-1', ...context });
}

function refusal(body: JsonObject, options?: DecodeOptions): { readonly path: string; readonly type: string } {
  try {
    decode(body, options);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    assert.equal(error.status, 400);
    return { path: error.issues?.[0]?.path ?? '', type: error.type };
  }
  throw new Error('was not refused');
}

function pathOfRefusal(body: JsonObject): string {
  return refusal({ ...HELLO, ...body }).path;
}

suite('a request of the responses format', () => {
  // @spec responses-6
  test('with a string as input is one user message', () => {
    const { format, delivery, turns, directives } = decode(HELLO);
    assert.deepEqual([format, delivery, directives.models], ['responses', 'whole', ['acme/chat']]);
    assert.deepEqual(turns, [
      {
        role: 'user',
        blocks: [{ type: 'text', text: 'Hello' }],
        plain: true,
        source: { path: 'input', blocks: ['input'] },
      },
    ]);
  });

  // @spec responses-8
  test('has its instructions before everything else', () => {
    const { turns } = decode({ ...HELLO, instructions: 'Be brief.' });
    assert.deepEqual(
      turns.map(({ role, source }) => [role, source?.path]),
      [
        ['system', 'instructions'],
        ['user', 'input'],
      ],
    );
  });

  // @spec responses-8
  test('may repeat instructions in the form of a response', () => {
    const instructions = [{ role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] }, 'Be kind.'];
    const [first] = decode({ ...HELLO, instructions }).turns;
    assert.deepEqual(first?.blocks, [{ type: 'text', text: 'Be brief.\n\nBe kind.' }]);
  });

  // @spec responses-10, responses-12
  test('has the settings of chat under its own names', () => {
    const { settings } = decode({
      ...HELLO,
      max_output_tokens: 100,
      max_tokens: 7,
      top_logprobs: 2,
      temperature: 0.5,
      parallel_tool_calls: false,
      reasoning: { effort: 'high', generate_summary: 'auto', context: 'all_turns' },
      text: {
        verbosity: 'low',
        format: { type: 'json_schema', name: 'list', schema: { type: 'object' }, strict: true },
      },
      service_tier: 'fast',
      prompt_cache_key: 'thread-1',
      stop: 'END',
      top_p: null,
    });
    assert.deepEqual(settings, {
      maxTokens: 100,
      temperature: 0.5,
      logprobs: true,
      topLogprobs: 2,
      stop: ['END'],
      parallelToolCalls: false,
      responseFormat: { type: 'json_schema', name: 'list', schema: { type: 'object' }, strict: true },
      reasoning: { effort: 'high', summary: 'auto', context: 'all_turns' },
      verbosity: 'low',
      serviceTier: 'priority',
      promptCacheKey: 'thread-1',
    });
  });

  // @spec responses-11
  test('may have its output format in the spelling of chat', () => {
    const format = { type: 'json_schema', json_schema: { name: 'list', schema: { type: 'object' } } };
    assert.deepEqual(decode({ ...HELLO, response_format: format }).settings.responseFormat, {
      type: 'json_schema',
      name: 'list',
      schema: { type: 'object' },
    });
  });

  // @spec responses-9
  test('takes null as absent in every field', () => {
    const members = ['instructions', 'tools', 'tool_choice', 'reasoning', 'text', 'metadata', 'include', 'store'];
    const others = ['conversation', 'prompt', 'previous_response_id', 'models', 'plugins', 'session_id', 'user'];
    const nulls = Object.fromEntries([...members, ...others].map((member) => [member, null]));
    const { settings, response } = decode({ ...HELLO, ...nulls });
    assert.deepEqual(settings, {});
    assert.deepEqual(response?.echo, {});
  });

  // @spec responses-15
  test('keeps what the gateway does not know for upstreams of its format', () => {
    const fields = {
      moderation: { model: 'm' },
      prompt_cache_retention: '24h',
      context_management: [{ type: 'compaction' }],
    };
    const ignored = { client_metadata: { installation: 'x' }, type: 'response.create', generate: false };
    assert.deepEqual(decode({ ...HELLO, ...fields, ...ignored }).extra, { format: 'responses', fields });
  });

  // @spec responses-16
  test('keeps a number that a double would change', () => {
    const text = `{"input":"a","seed":12345678901234567890,"big":1234567890123456789}`;
    const body: JsonObject = { input: 'a', seed: 12_345_678_901_234_567_000, big: 1_234_567_890_123_456_800 };
    const request = decodeBody(body, text, decodeHeaderDirectives({}), { accountId: 'a' });
    assert.equal(JSON.stringify(request.settings.seed), '12345678901234567890');
    assert.equal(JSON.stringify(request.extra?.fields), '{"big":1234567890123456789}');
  });

  // @spec responses-17
  test('is followed by a compression of the conversation where truncation is auto', () => {
    const plugins = (body: JsonObject): unknown => decode({ ...HELLO, ...body }).directives.plugins;
    assert.deepEqual(plugins({ truncation: 'auto' }), [
      { id: 'context-compression', enabled: true, options: {}, yieldsToNative: true },
    ]);
    assert.deepEqual(plugins({ truncation: 'disabled' }), [
      { id: 'context-compression', enabled: false, options: {}, yieldsToNative: true },
    ]);
    assert.deepEqual(plugins({ truncation: 'disabled', plugins: [{ id: 'context-compression' }] }), [
      { id: 'context-compression', enabled: true, options: {} },
    ]);
  });

  // @spec responses-18
  test('belongs to the session that is named first', () => {
    const headers = { 'x-session-id': 'b', 'session-id': 'd' };
    const sessionOf = (body: JsonObject, given: Readonly<Record<string, string>>): unknown =>
      decode({ ...HELLO, ...body }, { headers: given }).directives.sessionId;
    assert.equal(sessionOf({ session_id: 'a', prompt_cache_key: 'c' }, headers), 'a');
    assert.equal(sessionOf({ prompt_cache_key: 'c' }, headers), 'b');
    assert.equal(sessionOf({ prompt_cache_key: 'c' }, { 'session-id': 'd' }), undefined);
    assert.equal(sessionOf({}, { 'thread-id': 'e', session_id: 'd' }), 'd');
  });

  // @spec responses-19
  test('has the end user that is safe to name', () => {
    assert.equal(decode({ ...HELLO, user: 'u', safety_identifier: 's' }).directives.user, 's');
  });
});

suite('what the response is to hold', () => {
  // @spec responses-60
  test('is the request as the caller wrote it, without secrets', () => {
    const tools = [
      { type: 'mcp', server_label: 's', server_url: 'https://x', authorization: 'secret', headers: { a: 'b' } },
    ];
    const { response } = decode({
      ...HELLO,
      instructions: 'Hi',
      tools,
      metadata: { a: 'b' },
      temperature: 1,
      user: 'u',
    });
    assert.deepEqual(response?.echo, {
      instructions: 'Hi',
      temperature: 1,
      metadata: { a: 'b' },
      user: 'u',
      tools: [{ type: 'mcp', server_label: 's', server_url: 'https://x' }],
    });
  });

  // @spec responses-20
  test('is what is included; parts that are not known are left out', () => {
    const { response, warnings } = decode({ ...HELLO, include: ['reasoning.encrypted_content', 'dreams'] });
    assert.deepEqual([...(response?.include ?? [])], ['reasoning.encrypted_content']);
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['include[1]'],
    );
  });

  // @spec responses-80
  test('follows headers and switches', () => {
    const headers = { 'x-service-stream-errors': 'in-band', 'x-service-stream-events': 'extended' };
    const body = { ...HELLO, store: true, background: true, previous_response_id: 'resp_1' };
    const history = [{ type: 'message', role: 'user', content: 'Before' }];
    const {
      items,
      echo: _echo,
      include: _include,
      ...options
    } = decode(body, { headers, context: { history } }).response ?? {};
    assert.deepEqual(options, {
      failsInStream: true,
      extendedEvents: true,
      store: true,
      background: true,
      previousResponseId: 'resp_1',
    });
    assert.equal(items?.length, 1, 'only the items of this request are its own');
    assert.match(JSON.stringify(items?.[0]?.['id']), /^"msg_[A-Za-z0-9]{24}"$/);
  });
});

suite('a wrong request', () => {
  const WRONG: readonly (readonly [JsonObject, string])[] = [
    [{ input: '' }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: null }, 'input'],
    [{ input: 7 }, 'input'],
    [{ input: null, messages: [] }, 'input'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ temperature: 3 }, 'temperature'],
    [{ top_logprobs: 21 }, 'top_logprobs'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
    [{ max_tool_calls: 31 }, 'max_tool_calls'],
    [{ text: { format: { type: 'json_schema', schema: {} } } }, 'text.format.name'],
    [{ text: { format: { type: 'json_schema', name: 'a' } } }, 'text.format.schema'],
    [{ text: { format: { type: 'yaml' } } }, 'text.format.type'],
    [{ text: { format: { type: 'text' } }, response_format: { type: 'text' } }, 'text.format'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [{ metadata: { a: 'x'.repeat(513) } }, 'metadata.a'],
    [{ user: 'x'.repeat(257) }, 'user'],
    [{ safety_identifier: 'x'.repeat(129) }, 'safety_identifier'],
    [{ session_id: 'x'.repeat(257) }, 'session_id'],
    [{ reasoning: { effort: 'low' }, reasoning_effort: 'high' }, 'reasoning_effort'],
    [{ truncation: 'some' }, 'truncation'],
    [{ input: [{ type: 'compaction_trigger' }, { role: 'user', content: 'a' }] }, 'input[0].type'],
  ];
  for (const [body, path] of WRONG)
    // @spec responses-7, responses-11, responses-12, responses-13, responses-14, responses-104
    test(`is refused at ${path}: ${JSON.stringify(body).slice(0, 60)}`, () => {
      assert.equal(pathOfRefusal(body), path);
    });

  // @spec responses-7
  test('without input is a wrong prompt', () => {
    assert.equal(refusal({ model: 'a' }).type, 'invalid_prompt');
    assert.throws(() => decode({ model: 'a' }), /^GatewayError: input: is required: a text or a list of items/);
    for (const input of ['', []])
      assert.throws(() => decode({ model: 'a', input }), /^GatewayError: input: must not be empty/);
  });

  // @spec responses-89
  test('is refused where it and what it continues have too many items together', () => {
    const item = { type: 'message', role: 'user', content: 'a' };
    const context = { history: Array.from({ length: 9_990 }, () => item) };
    const body = { ...HELLO, previous_response_id: 'resp_1' };
    assert.equal(decode({ ...body, input: Array.from({ length: 10 }, () => item) }, { context }).turns.length, 10_000);
    const { path } = refusal({ ...body, input: Array.from({ length: 11 }, () => item) }, { context });
    assert.equal(path, 'previous_response_id');
  });

  // @spec responses-7
  test('is refused where what it continues holds more values than a body may', () => {
    const content = Array.from({ length: 2_000 }, () => ({ type: 'input_text', text: 'a' }));
    const history = Array.from({ length: 20 }, () => ({ type: 'message', role: 'user', content }));
    const body = { ...HELLO, previous_response_id: 'resp_1' };
    assert.equal(decode(body, { context: { history: history.slice(0, 10) } }).turns.length, 11);
    assert.equal(refusal(body, { context: { history } }).path, 'previous_response_id');
  });

  test('with all items of earlier responses may add none', () => {
    const history = [{ type: 'message', role: 'user', content: 'Before' }];
    const { turns } = decode({ previous_response_id: 'resp_1' }, { context: { history } });
    assert.deepEqual(turns[0]?.source?.path, 'previous_response_id');
  });
});
