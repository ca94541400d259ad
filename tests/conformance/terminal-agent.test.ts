import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { CHAT_ONLY, MESSAGES_ONLY, OWN, startBothFormats } from '../support/both-formats.ts';
import { API_KEY } from '../support/gateway.ts';
import { readMessagesStream, type MessagesStream } from '../support/http/read-stream.ts';
import { startScriptedFormats } from '../support/upstreams/scripted-formats.ts';
import type { Arrived } from '../support/upstream.ts';

const gateway = await startBothFormats();
after(() => gateway.close());
const scripted = await startScriptedFormats({ after });

/** Headers of a terminal coding agent. @spec operation-2 */
const AGENT_HEADERS = {
  'accept-encoding': 'gzip, deflate, br, zstd',
  'anthropic-beta':
    'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27,effort-2025-11-24,made-up-by-nobody-2031-01-01',
  'anthropic-dangerous-direct-browser-access': 'true',
  'anthropic-version': '2023-06-01',
  'user-agent': 'claude-cli/2.1.80 (external, cli)',
  'x-app': 'cli',
  'x-claude-code-session-id': '0b6f3c1e-5a52-4c7e-9df1-3d0a7f2f9c11',
  'x-stainless-arch': 'x64',
  'x-stainless-lang': 'js',
  'x-stainless-retry-count': '0',
  'x-stainless-timeout': '600',
};
const NONCE = 'x-anthropic-billing-header: cc_version=2.1.80.a1b; cc_entrypoint=cli; cch=9f3a1;';
const EPHEMERAL = { type: 'ephemeral' } as const;
const HOUR = { type: 'ephemeral', ttl: '1h' } as const;
const SCHEMA = 'https://json-schema.org/draft/2020-12/schema';

/** What such an agent sends with its first prompt, shortened in its texts only. */
function agentRequest(model: string, more: object = {}): Record<string, unknown> {
  return {
    model,
    max_tokens: 32_000,
    stream: true,
    system: [
      { type: 'text', text: NONCE },
      { type: 'text', text: 'You are a coding agent in a terminal.', cache_control: HOUR },
      { type: 'text', text: `# Rules\n${'Keep to the style of the file. '.repeat(400)}`, cache_control: HOUR },
    ],
    tools: [
      {
        name: 'Bash',
        description: 'Runs a command',
        input_schema: {
          $schema: SCHEMA,
          type: 'object',
          properties: { command: { type: 'string' }, timeout: { type: 'number', exclusiveMinimum: 0 } },
          required: ['command'],
          additionalProperties: false,
        },
      },
      {
        name: 'Read',
        description: 'Reads a file',
        input_schema: {
          $schema: SCHEMA,
          type: 'object',
          properties: { file_path: { type: 'string' }, limit: { type: 'integer' } },
          required: ['file_path'],
          additionalProperties: false,
        },
        cache_control: HOUR,
      },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>\nToday is a day.\n</system-reminder>' },
          { type: 'text', text: 'List the files', cache_control: EPHEMERAL },
        ],
      },
    ],
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: '{"device_id":"dev-1","account_uuid":"acc-1","session_id":"ses-1"}' },
    temperature: 1,
    ...more,
  };
}

interface AgentBlock {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly partial_json?: string;
}

/** The blocks of a stream as the agent adds them up, tool inputs parsed. */
function blocksOf({ events }: MessagesStream): object[] {
  const blocks: Record<string, unknown>[] = [];
  let input = '';
  for (const event of events) {
    const { content_block: started, delta } = event as unknown as {
      content_block?: AgentBlock;
      delta?: AgentBlock;
    };
    const last = blocks.at(-1) ?? {};
    if (event.type === 'content_block_start') {
      blocks.push({ ...started });
      input = '';
    }
    if (delta?.type === 'text_delta') last['text'] = String(last['text']) + delta.text;
    if (delta?.type === 'thinking_delta') last['thinking'] = String(last['thinking']) + delta.thinking;
    if (delta?.type === 'signature_delta') last['signature'] = delta.signature;
    if (delta?.type === 'input_json_delta') input += delta.partial_json;
    if (event.type === 'content_block_stop' && last['type'] === 'tool_use')
      last['input'] = JSON.parse(input === '' ? '{}' : input);
  }
  return blocks;
}

suite('connectivity probes', () => {
  for (const path of ['/', '/api/hello'])
    // @spec operation-2
    test(`gets 200 and an empty body without a key: HEAD ${path}`, async () => {
      const response = await fetch(gateway.url + path, { method: 'HEAD' });
      assert.equal(response.status, 200);
      assert.equal(await response.text(), '');
    });

  // @spec request-32
  test("answers a browser's preflight without a key", async () => {
    const response = await fetch(`${gateway.baseUrl}/messages`, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-headers': 'x-api-key,anthropic-version' },
    });
    assert.equal(response.status, 204);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.match(response.headers.get('access-control-allow-headers') ?? '', /x-api-key/);
  });
});

suite('addresses', () => {
  const body = JSON.stringify({ model: 'sandbox/echo', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
  for (const path of [
    '/v1/messages?beta=true',
    '/v1/v1/messages',
    '/v1/v1/messages?beta=true',
    '/api/v1/messages',
    '/v1/messages',
  ])
    for (const headers of [{ authorization: `Bearer ${API_KEY}` }, { 'x-api-key': API_KEY }])
      // @spec messages-14
      test(`serves POST ${path} with ${Object.keys(headers)[0]}`, async () => {
        const response = await fetch(gateway.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body,
        });
        assert.equal(response.status, 200);
        assert.equal(((await response.json()) as { content: AgentBlock[] }).content[0]?.text, 'hi');
      });

  // @spec error-26
  test('returns 404 or 405 with JSON for an unknown path and a wrong method', async () => {
    for (const [method, path] of [
      ['POST', '/v1/nothing'],
      ['GET', '/v1/messages'],
      ['POST', '/messages'],
      ['POST', '/v1/messages/'],
    ] as const) {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body }),
      });
      assert.ok([404, 405].includes(response.status), `${method} ${path}: ${response.status}`);
      const answer = (await response.json()) as { error: { code: number } };
      assert.equal(answer.error.code, response.status);
    }
  });
});

suite('count_tokens', () => {
  const ask = (body: object, key = API_KEY): Promise<Response> =>
    gateway.post('/messages/count_tokens?beta=true', body, { authorization: `Bearer ${key}`, ...AGENT_HEADERS });
  const counted = (model: string): object => {
    const { max_tokens: _max, stream: _stream, temperature: _temperature, ...rest } = agentRequest(model);
    return rest;
  };

  for (const from of [OWN, MESSAGES_ONLY, CHAT_ONLY])
    // @spec messages-35
    test(`counts the agent's own request: ${from}`, async () => {
      const response = await ask(counted(`${from}/echo`));
      assert.equal(response.status, 200);
      const body = (await response.json()) as { input_tokens: number };
      assert.deepEqual(Object.keys(body), ['input_tokens']);
      assert.ok(Number.isInteger(body.input_tokens) && body.input_tokens > 1_000, String(body.input_tokens));
    });

  // @spec messages-37
  test('counts for a router without choosing', async () => {
    for (const model of ['service/auto', 'service/fusion', 'service/pareto-code:nitro', 'service/free']) {
      const response = await ask(counted(model));
      assert.equal(response.status, 200, model);
      const body = (await response.json()) as { input_tokens: number };
      assert.ok(body.input_tokens > 1_000, model);
    }
    const behind = await ask({ ...counted(`${OWN}/echo`), fallbacks: [{ model: 'service/auto' }] });
    assert.equal(behind.status, 200, await behind.text());
  });

  test('returns errors in the shape of the format', async () => {
    for (const [response, status, type] of [
      [await ask(counted('sandbox/echo'), 'wrong'), 401, 'authentication_error'],
      [await ask(counted('nobody/nothing')), 404, 'not_found_error'],
      [await ask({ model: 'sandbox/echo', messages: [] }), 400, 'invalid_request_error'],
    ] as const) {
      assert.equal(response.status, status);
      const body = (await response.json()) as { type: string; error: { type: string; code: number } };
      assert.deepEqual([body.type, body.error.type, body.error.code], ['error', type, status]);
    }
  });
});

for (const from of [OWN, MESSAGES_ONLY, CHAT_ONLY])
  suite(`the agent's loop, ${from}`, () => {
    test('reasons, calls and responds in two streamed turns that replay everything unchanged', async () => {
      const ask = async (body: object): Promise<MessagesStream> => {
        const response = await gateway.post('/messages?beta=true', body, AGENT_HEADERS);
        const text = await response.text();
        assert.equal(response.status, 200, text);
        assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
        return readMessagesStream(text);
      };
      const body = agentRequest(`${from}/tools`);
      const first = await ask(body);
      assert.equal(first.stopReason, 'tool_use');
      const blocks = blocksOf(first) as (AgentBlock & { input?: object })[];
      assert.deepEqual(
        blocks.map(({ type }) => type),
        ['thinking', 'tool_use'],
      );
      const call = blocks[1];
      assert.equal(call?.name, 'Bash');
      assert.equal(typeof (call.input as { command?: unknown }).command, 'string');
      const result = { type: 'tool_result', tool_use_id: call.id, content: 'a.ts\nb.ts', cache_control: EPHEMERAL };
      const [requested] = body['messages'] as { role: string; content: AgentBlock[] }[];
      const second = await ask({
        ...body,
        messages: [
          { role: 'user', content: requested?.content.map(({ type, text }) => ({ type, text })) },
          { role: 'assistant', content: blocks },
          { role: 'user', content: [result] },
        ],
      });
      assert.equal(second.stopReason, 'end_turn');
      assert.equal(second.text, 'tool Bash said: a.ts\nb.ts');
    });

    // @spec stream-26
    test('sends message_start in the whole shape that the agent reads, and message_delta with the final counts', async () => {
      const response = await gateway.post('/messages?beta=true', agentRequest(`${from}/echo`), AGENT_HEADERS);
      const { events } = readMessagesStream(await response.text());
      const [start] = events as unknown as { type: string; message: { usage: object } & Record<string, unknown> }[];
      assert.equal(start?.type, 'message_start');
      assert.equal(start.message['id'], response.headers.get('x-generation-id'));
      assert.deepEqual(start.message['content'], []);
      for (const member of ['stop_reason', 'stop_sequence', 'stop_details', 'container'])
        assert.equal(start.message[member], null, member);
      for (const member of [
        'input_tokens',
        'output_tokens',
        'cache_creation',
        'cache_creation_input_tokens',
        'cache_read_input_tokens',
        'inference_geo',
        'output_tokens_details',
        'server_tool_use',
        'service_tier',
      ])
        assert.ok(member in start.message.usage, member);
      const delta = events.find(({ type }) => type === 'message_delta') as unknown as {
        usage: Record<string, number | null>;
      };
      const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = delta.usage;
      assert.ok((fresh ?? 0) + (read ?? 0) + (written ?? 0) > 1_000, JSON.stringify(delta.usage));
      assert.ok((delta.usage['output_tokens'] ?? 0) > 0);
      assert.ok(
        events.some(({ type }) => type === 'ping'),
        'a ping shows that the stream is alive',
      );
    });

    test('accepts a prompt of half a megabyte', async () => {
      const messages = [
        { role: 'user', content: 'x y '.repeat(130_000) },
        { role: 'assistant', content: 'Long.' },
        { role: 'user', content: 'short' },
      ];
      const body = agentRequest(`${from}/echo`, { messages, stream: false });
      const response = await gateway.post('/messages?beta=true', body, AGENT_HEADERS);
      assert.equal(response.status, 200);
      const answer = (await response.json()) as { content: AgentBlock[] };
      assert.equal(answer.content.at(-1)?.text, 'short');
    });
  });

test('returns a 404 that the agent understands for an unknown model', async () => {
  const response = await gateway.post('/messages?beta=true', agentRequest('claude-sonnet-9/none'), AGENT_HEADERS);
  assert.equal(response.status, 404);
  const body = (await response.json()) as { type: string; error: { type: string } };
  assert.deepEqual([body.type, body.error.type], ['error', 'not_found_error']);
});

suite("the agent's request at an upstream", () => {
  async function send(model: string): Promise<{ arrived: Arrived; warned: readonly string[] }> {
    const upstream = model === 'acme/chat' ? scripted.chat : scripted.messages;
    upstream.arrived.length = 0;
    const response = await scripted.gateway.post('/messages?beta=true', agentRequest(model), AGENT_HEADERS);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const [arrived] = upstream.arrived;
    assert.ok(arrived !== undefined);
    const record = await scripted.gateway.app.generations.find(response.headers.get('x-generation-id') ?? '');
    return { arrived, warned: record?.warnings.map(({ path }) => path) ?? [] };
  }

  test('is unchanged at the vendor: nonce, order, markers, thinking, edits; known betas only; the user hashed', async () => {
    const { arrived, warned } = await send('acme/anthropic');
    const requested = agentRequest('acme/anthropic');
    const { metadata, model: _model, ...rest } = arrived.body;
    const { metadata: _metadata, model: _asked, ...expected } = requested;
    assert.deepEqual(rest, expected);
    assert.equal(JSON.stringify(arrived.body['system']), JSON.stringify(requested['system']), 'byte for byte');
    assert.equal(JSON.stringify(arrived.body['tools']), JSON.stringify(requested['tools']), 'byte for byte');
    assert.match((metadata as { user_id: string }).user_id, /^[0-9a-f]+$/);
    const betas = String(arrived.headers['anthropic-beta']).split(',');
    for (const token of AGENT_HEADERS['anthropic-beta'].split(',').slice(0, 4)) assert.ok(betas.includes(token), token);
    assert.ok(!betas.some((token) => token.startsWith('made-up')));
    assert.ok(warned.includes('anthropic-beta'));
    assert.equal(arrived.headers['x-api-key'], 'upstream-secret-4');
    assert.equal(arrived.path, '/v1/messages');
  });

  test('has no nonce, no vendor field and no beta at another host of the format', async () => {
    const { arrived, warned } = await send('acme/messages');
    const system = arrived.body['system'] as AgentBlock[];
    assert.equal(system.length, 2);
    assert.ok(!arrived.text.includes('x-anthropic-billing-header'));
    assert.ok(!('context_management' in arrived.body));
    assert.ok(!('anthropic-beta' in arrived.headers));
    assert.ok(warned.includes('system[0]') && warned.includes('context_management'), warned.join(' '));
    assert.deepEqual(arrived.body['messages'], agentRequest('')['messages']);
  });

  test('has one system text, functions, and only known fields at a chat host', async () => {
    const { arrived, warned } = await send('acme/chat');
    const { messages, tools } = arrived.body as {
      messages: { role: string; content: unknown }[];
      tools: { type: string; function: { name: string; parameters: object } }[];
    };
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['system', 'user'],
    );
    assert.ok(!arrived.text.includes('x-anthropic-billing-header'));
    assert.ok(!arrived.text.includes('cache_control'));
    assert.deepEqual(
      tools.map(({ type, function: { name } }) => [type, name]),
      [
        ['function', 'Bash'],
        ['function', 'Read'],
      ],
    );
    assert.deepEqual(
      tools[0]?.function.parameters,
      (agentRequest('')['tools'] as { input_schema: object }[])[0]?.input_schema,
    );
    assert.deepEqual(
      Object.keys(arrived.body).toSorted(),
      [
        'max_tokens',
        'messages',
        'model',
        'reasoning_effort',
        'stream',
        'stream_options',
        'temperature',
        'tools',
      ].toSorted(),
    );
    assert.ok(warned.includes('context_management'), warned.join(' '));
  });
});
