import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { PLUGINS } from '../../src/plugins/index.ts';
import { CANARY, FULL_CHAT, FULL_MESSAGES, FULL_RESPONSES, TALKATIVE_HEADERS } from '../support/full-requests.ts';
import { API_KEY } from '../support/gateway.ts';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { startScriptedFormats } from '../support/upstreams/scripted-formats.ts';
import { emit } from '../support/upstreams/speak.ts';
import type { Arrived } from '../support/upstream.ts';

const { gateway, chat, messages } = await startScriptedFormats({ after });

const CALLERS = {
  chat: { path: '/chat/completions', body: FULL_CHAT },
  messages: { path: '/messages', body: FULL_MESSAGES },
} as const;
type Caller = keyof typeof CALLERS;

interface Expectation {
  /** Top-level members that arrive, beside those of a stream. */
  readonly members: string;
  /** Top-level members of the request that are dropped, each with a warning in the record. */
  readonly dropped: string;
}

/** Of the caller's own words, what neither format sends on: said to be so in every record. */
const WITHOUT_EFFECT = 'usage n x_search_filter';

const CHAT_TO_CHAT = `acme_private audio frequency_penalty image_config logit_bias logprobs messages min_p modalities model
  parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options raw_mode reasoning_effort
  repetition_penalty response_format safe_prompt seed service_tier stop structured_outputs temperature tool_choice tools
  top_a top_k top_logprobs top_p verbosity web_search_options`;
/** What the vendor never had or has for newer models alone, and what its models refuse while they reason. */
const REFUSED_BY_VENDOR = `frequency_penalty logit_bias logprobs min_p presence_penalty prompt_cache_options repetition_penalty
  stop temperature top_a top_k top_logprobs top_p`;
/** What the messages format has no words for. */
const CHAT_ONLY = `acme_private audio frequency_penalty image_config logit_bias logprobs min_p prediction presence_penalty
  prompt_cache_key prompt_cache_options raw_mode repetition_penalty safe_prompt seed structured_outputs top_a
  top_logprobs web_search_options`;
/** What the vendor takes only while the model does not think. */
const SAMPLING = 'temperature top_k top_p';
const MESSAGES_TO_CHAT = `messages model parallel_tool_calls reasoning_effort response_format service_tier stop
  temperature tool_choice tools top_k top_p`;
/** What the chat format has no words for; `output_config` for its `task_budget`, the rest of it is said. */
const MESSAGES_ONLY = 'acme_private container context_management inference_geo mcp_servers output_config speed';
const VENDOR_ONLY = 'container context_management inference_geo mcp_servers speed';

function without(members: string, others: string): string {
  const left = new Set(words(members)).difference(new Set(words(others)));
  return [...left].join(' ');
}

/** What arrives where: reviewed by hand against @spec request-12, route-20, request-11. */
const EXPECTED: Readonly<Record<Caller, Readonly<Record<string, Expectation>>>> = {
  chat: {
    'acme/chat': { members: `${CHAT_TO_CHAT} max_tokens`, dropped: WITHOUT_EFFECT },
    'acme/openai': {
      members: `${without(CHAT_TO_CHAT, REFUSED_BY_VENDOR)} max_completion_tokens safety_identifier`,
      dropped: `${WITHOUT_EFFECT} ${REFUSED_BY_VENDOR}`,
    },
    'acme/messages': {
      // A tool is forced that takes the answer in the wanted form, and with it the model cannot think. @spec reasoning-11
      members: `max_tokens messages metadata model stop_sequences system tool_choice tools ${SAMPLING}`,
      dropped: `${WITHOUT_EFFECT} ${CHAT_ONLY} reasoning response_format service_tier verbosity`,
    },
    'acme/anthropic': {
      members: `cache_control max_tokens messages metadata model output_config service_tier stop_sequences system thinking
        tool_choice tools`,
      dropped: `${WITHOUT_EFFECT} ${CHAT_ONLY} ${SAMPLING}`,
    },
  },
  messages: {
    'acme/messages': {
      members: `acme_private max_tokens messages metadata model output_config service_tier stop_sequences system
        temperature thinking tool_choice tools top_k top_p`,
      dropped: `${WITHOUT_EFFECT} ${VENDOR_ONLY}`,
    },
    'acme/anthropic': {
      members: `acme_private cache_control container context_management inference_geo max_tokens mcp_servers messages
        metadata model output_config service_tier speed stop_sequences system temperature thinking tool_choice tools
        top_k top_p`,
      dropped: WITHOUT_EFFECT,
    },
    'acme/chat': { members: `${MESSAGES_TO_CHAT} max_tokens`, dropped: `${WITHOUT_EFFECT} ${MESSAGES_ONLY}` },
    'acme/openai': {
      members: `${without(MESSAGES_TO_CHAT, REFUSED_BY_VENDOR)} max_completion_tokens safety_identifier`,
      dropped: `${WITHOUT_EFFECT} ${MESSAGES_ONLY} stop_sequences temperature top_k top_p`,
    },
  },
};

/** Names that no upstream of any format may ever see. */
const GATEWAY_FIELDS = [
  'provider',
  'plugins',
  'models',
  'fallbacks',
  'route',
  'session_id',
  'trace',
  'user',
  'stop_server_tools_when',
  'max_tool_calls',
  'preset',
  'debug',
  'transforms',
  'usage',
  'x_search_filter',
  'n',
  'service_metadata',
];

interface Sent {
  readonly response: Response;
  readonly text: string;
  readonly arrived: Arrived;
  readonly warned: readonly string[];
}

async function send(caller: Caller, model: string, more: object = {}): Promise<Sent> {
  const upstream = model === 'acme/chat' || model === 'acme/openai' ? chat : messages;
  upstream.arrived.length = 0;
  const { path, body } = CALLERS[caller];
  const { models: _models, fallbacks: _fallbacks, ...rest } = { models: [], fallbacks: [], ...body };
  const list = caller === 'chat' ? { models: [model] } : { fallbacks: [{ model }] };
  const response = await gateway.post(path, { ...rest, model, ...list, ...more }, TALKATIVE_HEADERS);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  const [arrived] = upstream.arrived;
  assert.ok(arrived !== undefined && upstream.arrived.length === 1);
  const record = await gateway.app.generations.find(response.headers.get('x-generation-id') ?? '');
  assert.ok(record !== undefined, 'the record is stored before the answer ends');
  return { response, text, arrived, warned: record.warnings.map((warning) => warning.path) };
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Where the hash of account and end user stands in each vendor's body; a plain chat host has no place for it. */
function endUserOf(model: string, { body }: Arrived): unknown {
  if (model === 'acme/openai') return body['safety_identifier'];
  return model === 'acme/chat' ? undefined : (body['metadata'] as { user_id?: unknown } | undefined)?.user_id;
}

for (const caller of ['chat', 'messages'] as const)
  for (const [model, expected] of Object.entries(EXPECTED[caller]))
    for (const streaming of [false, true])
      suite(`a full ${caller} request to ${model}, stream: ${streaming}`, () => {
        // @spec generation-6
        test('delivers exactly these fields, and records what was dropped', async () => {
          const { arrived, warned, text } = await send(caller, model, { stream: streaming });
          const isChat = model === 'acme/chat' || model === 'acme/openai';
          const ofStream = !streaming ? [] : isChat ? ['stream', 'stream_options'] : ['stream'];
          assert.deepEqual(Object.keys(arrived.body).toSorted(), [...words(expected.members), ...ofStream].toSorted());
          const tops = [...new Set(warned.map((path) => path.split(/[.[]/)[0]))];
          for (const member of words(expected.dropped))
            assert.ok(tops.includes(member), `${member} in ${warned.join(' ')}`);
          const stated = isChat ? 'Said in chat.' : 'Said in messages.';
          if (streaming) assert.equal((caller === 'chat' ? readChatStream : readMessagesStream)(text).text, stated);
          else assert.ok(text.includes(stated));
        });

        // @spec request-12, request-21
        test('delivers no field of the gateway, none of its values, and not the key', async () => {
          const { arrived } = await send(caller, model, { stream: streaming });
          for (const field of GATEWAY_FIELDS) assert.ok(!(field in arrived.body), field);
          const everything = `${arrived.path}\n${JSON.stringify(arrived.headers)}\n${arrived.text}`;
          assert.ok(!everything.includes(API_KEY), 'the key of the caller');
          const at = everything.indexOf(CANARY);
          assert.equal(at, -1, everything.slice(Math.max(0, at - 80), at + 80));
          for (const header of [
            'cookie',
            'x-forwarded-for',
            'x-own-header',
            'x-stainless-lang',
            'referer',
            'http-referer',
          ])
            assert.ok(!(header in arrived.headers), header);
        });
      });

/** What the responses format has for the gateway alone, beside what all formats have. */
const RESPONSES_ALONE = {
  client_metadata: { installation: CANARY },
  include: [`${CANARY}-include`],
  metadata: { tag: CANARY },
  safety_identifier: `${CANARY}-someone`,
  store: false,
  previous_response_id: null,
  background: false,
  stream_options: { include_obfuscation: true },
};
const { provider, plugins, session_id, user, trace, debug, stop_server_tools_when, x_search_filter } = FULL_CHAT;
const OF_ALL_FORMATS = { provider, plugins, session_id, user, trace, debug, stop_server_tools_when, x_search_filter };
const RESPONSES_FIELDS = [...GATEWAY_FIELDS, 'client_metadata', 'previous_response_id', 'background'];

for (const model of ['acme/chat', 'acme/openai', 'acme/messages', 'acme/anthropic'])
  for (const stream of [false, true])
    // @spec request-12, request-21
    test(`a full request of the responses format to ${model}, stream: ${stream}, delivers nothing of the gateway`, async (t) => {
      const upstream = model === 'acme/chat' || model === 'acme/openai' ? chat : messages;
      upstream.arrived.length = 0;
      // A vendor is called in the format itself.
      const { script } = upstream;
      upstream.script = emit('Said in any format.');
      t.after(() => (upstream.script = script));
      const body = { ...FULL_RESPONSES, ...OF_ALL_FORMATS, ...RESPONSES_ALONE, model, stream };
      const response = await gateway.post('/responses', body, TALKATIVE_HEADERS);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      const [arrived, ...others] = upstream.arrived;
      assert.ok(arrived !== undefined && others.length === 0);
      for (const field of RESPONSES_FIELDS) assert.ok(!(field in arrived.body), field);
      assert.notEqual(arrived.body['store'], true);
      const everything = `${arrived.path}\n${JSON.stringify(arrived.headers)}\n${arrived.text}`;
      assert.ok(!everything.includes(API_KEY), 'the key of the caller');
      const at = everything.indexOf(CANARY);
      assert.equal(at, -1, everything.slice(Math.max(0, at - 80), at + 80));
      assert.ok(!/upstream-secret/.test(text), 'the key of the provider');
    });

suite('the end user', () => {
  for (const caller of ['chat', 'messages'] as const)
    for (const model of ['acme/openai', 'acme/messages', 'acme/anthropic'])
      // @spec request-20
      test(`is sent only as a hash of account and user, ${caller} to ${model}`, async () => {
        const one = endUserOf(model, (await send(caller, model)).arrived);
        const same = endUserOf(model, (await send(caller, model, { stream: true })).arrived);
        const other = endUserOf(model, (await send(caller, model, { user: 'somebody else' })).arrived);
        const absent = endUserOf(model, (await send(caller, model, { user: undefined, metadata: undefined })).arrived);
        for (const hash of [one, other, absent]) assert.match(String(hash), /^[0-9a-f]{32,64}$/);
        assert.equal(one, same);
        assert.equal(new Set([one, other, absent]).size, 3);
      });

  // @spec messages-12
  test("is hashed in the vendor's own metadata.user_id like user, which wins over it", async () => {
    const withUser = endUserOf('acme/anthropic', (await send('messages', 'acme/anthropic')).arrived);
    const ownOnly = { user: undefined, metadata: { user_id: FULL_MESSAGES.user } };
    assert.equal(endUserOf('acme/anthropic', (await send('messages', 'acme/anthropic', ownOnly)).arrived), withUser);
  });
});

suite('the debug chunk', () => {
  // @spec request-23, stream-12
  test('comes first and shows the body that went upstream, without the headers', async () => {
    chat.arrived.length = 0;
    const response = await gateway.post('/chat/completions', {
      model: 'acme/chat',
      stream: true,
      debug: { echo_upstream_body: true },
      messages: [{ role: 'user', content: 'hi' }],
      user: CANARY,
    });
    const text = await response.text();
    const [first, ...others] = readChatStream(text).chunks as { debug?: { echo_upstream_body: object } }[];
    assert.deepEqual(first?.debug?.echo_upstream_body, chat.arrived[0]?.body);
    assert.ok(others.every((chunk) => !('debug' in chunk)));
    for (const secret of [CANARY, API_KEY, 'upstream-secret']) assert.ok(!text.includes(secret), secret);
  });

  // @spec request-23
  test('is left out of a response that is not streamed', async () => {
    const response = await gateway.post('/chat/completions', {
      model: 'acme/chat',
      debug: { echo_upstream_body: true },
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.ok(!('debug' in ((await response.json()) as object)));
  });
});

suite('unknown fields', () => {
  const kept = { kept: [1, 2.5, '3'] };

  // @spec request-10
  test('are passed on within their format', async () => {
    assert.deepEqual((await send('chat', 'acme/chat')).arrived.body['acme_private'], kept);
    assert.deepEqual((await send('messages', 'acme/messages')).arrived.body['acme_private'], kept);
    assert.deepEqual((await send('messages', 'acme/anthropic')).arrived.body['acme_private'], kept);
  });

  // @spec request-11
  test('are dropped between formats, with a warning that names them', async () => {
    for (const [caller, model] of [
      ['chat', 'acme/messages'],
      ['messages', 'acme/chat'],
    ] as const) {
      const { arrived, warned } = await send(caller, model);
      assert.ok(!arrived.text.includes('acme_private'));
      assert.ok(warned.includes('acme_private'), warned.join(' '));
    }
  });

  test('called __proto__ or constructor have no effect', async () => {
    for (const path of ['/chat/completions', '/messages']) {
      const response = await gateway.post(
        path,
        '{"model":"acme/chat","max_tokens":9,"messages":[{"role":"user","content":"hi","__proto__":{"polluted":1}}],' +
          '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
      );
      assert.equal(response.status, 200, await response.text());
      assert.equal(({} as { polluted?: unknown }).polluted, undefined);
    }
  });
});

suite('a feature that is not built', () => {
  for (const path of ['/chat/completions', '/messages'])
    // @spec request-16, tool-3
    test(`is refused by name without a sandbox for a shell: ${path}`, async () => {
      const before = chat.arrived.length;
      const tools = [{ type: 'service:shell', parameters: {} }];
      const body = { model: 'acme/chat', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], tools };
      const response = await gateway.post(path, body);
      const { error } = (await response.json()) as {
        error: { code: number; message: string; metadata?: { issues?: { path: string }[] } };
      };
      assert.deepEqual([response.status, error.code], [400, 400], error.message);
      assert.equal(error.metadata?.issues?.[0]?.path, 'tools[0].type');
      assert.ok(error.message.includes('service:shell'));
      assert.equal(chat.arrived.length, before, 'nothing was sent');
    });

  test('is ignored when it is turned off', async () => {
    const off = { plugins: Object.keys(PLUGINS).map((id) => ({ id, enabled: false })) };
    const body = { model: 'acme/chat', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], transforms: [] };
    assert.equal((await gateway.post('/chat/completions', { ...body, ...off })).status, 200);
  });
});
