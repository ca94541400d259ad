import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import type { ContentBlock, MessageParam, Tool } from '@anthropic-ai/sdk/resources/messages';
import { z } from 'zod';
import { CHAT_ONLY, MESSAGES_ONLY, MESSAGES_VENDOR, OWN, startBothFormats } from '../support/both-formats.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { PNG_BASE64, PNG_MENTION } from '../support/files/media.ts';

const gateway = await startBothFormats();
after(() => gateway.close());

// The client adds the version segment to its paths by itself. `authToken: null` keeps the environment out.
const client = new Anthropic({ baseURL: gateway.url, apiKey: API_KEY, authToken: null, maxRetries: 0 });
const TEXT = 'The quick brown fox: "jumps"\nover  13 lazy dogs, naïve café 🦊.';

const answerSchema = z.object({
  title: z.string(),
  count: z.number().int(),
  tags: z.array(z.enum(['red', 'green'])),
  nested: z.object({ deep: z.boolean() }),
});
const weather: Tool = {
  name: 'get_weather',
  description: 'The weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const clock: Tool = {
  name: 'get_time',
  input_schema: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
};

function user(content: string): MessageParam[] {
  return [{ role: 'user', content }];
}

function textOf(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

function callsOf(content: readonly ContentBlock[]): Extract<ContentBlock, { type: 'tool_use' }>[] {
  return content.filter((block) => block.type === 'tool_use');
}

for (const from of [OWN, MESSAGES_ONLY, MESSAGES_VENDOR, CHAT_ONLY])
  suite(`the anthropic client, ${from}`, () => {
    // @spec messages-26, messages-33
    test('returns text, stop reason, id and usage in full shape', async () => {
      const { data, response } = await client.messages
        .create({ model: `${from}/echo`, max_tokens: 500, system: 'Be brief.', messages: user(TEXT) })
        .withResponse();
      assert.deepEqual([data.type, data.role, data.model], ['message', 'assistant', `${from}/echo`]);
      assert.equal(data.id, response.headers.get('x-generation-id'));
      assert.match(data.id, /^gen-/);
      assert.equal(textOf(data.content), TEXT);
      assert.equal(data.content.length, 1);
      assert.deepEqual([data.stop_reason, data.stop_sequence], ['end_turn', null]);
      assert.ok('stop_details' in data && 'container' in data);
      checkUsage(data.usage);
    });

    test('streams in the order of the format, equal to the response without streaming', async () => {
      const params = { model: `${from}/echo`, max_tokens: 500, messages: user(TEXT) };
      const whole = await client.messages.create(params);
      const texts: string[] = [];
      const types: string[] = [];
      const stream = client.messages.stream(params);
      stream.on('text', (delta) => texts.push(delta)).on('streamEvent', ({ type }) => types.push(type));
      const final = await stream.finalMessage();
      assert.equal(textOf(final.content), TEXT);
      assert.equal(texts.join(''), TEXT);
      assert.ok(texts.length > 5, 'it is streamed');
      assert.deepEqual(
        types.filter((type, at) => type !== types[at - 1]),
        [
          'message_start',
          'content_block_start',
          'content_block_delta',
          'content_block_stop',
          'message_delta',
          'message_stop',
        ],
      );
      assert.deepEqual([final.stop_reason, final.stop_sequence], [whole.stop_reason, whole.stop_sequence]);
      assert.equal(final.usage.output_tokens, whole.usage.output_tokens);
      assert.equal(final.usage.input_tokens, whole.usage.input_tokens);
      checkUsage(final.usage);
    });

    test('reports a token limit and a stop sequence as the reason of the end', async () => {
      const params = { model: `${from}/echo`, max_tokens: 3, messages: user('one two three four five six seven') };
      const cut = await client.messages.create(params);
      assert.equal(cut.stop_reason, 'max_tokens');
      assert.equal(cut.usage.output_tokens, 3);
      const stopped = await client.messages.create({
        ...params,
        max_tokens: 100,
        messages: user('one two STOP three'),
        stop_sequences: ['STOP'],
      });
      assert.equal(textOf(stopped.content), 'one two ');
      // The chat format does not say which sequence was hit, or that one was.
      if (from === CHAT_ONLY) assert.equal(stopped.stop_reason, 'end_turn');
      else assert.deepEqual([stopped.stop_reason, stopped.stop_sequence], ['stop_sequence', 'STOP']);
    });

    // By default the runner requests that the server stores the conversation. The gateway does not, and must say so with
    // the error that makes the client send the whole conversation again.
    for (const [stream, threaded] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const)
      test(`runs the tool runner to its response, stream: ${stream}, asks for a thread: ${threaded}`, async () => {
        const seen: unknown[] = [];
        const runner = client.beta.messages.toolRunner({
          model: `${from}/tools`,
          max_tokens: 500,
          messages: [{ role: 'user', content: 'What is the weather in Oslo?' }],
          stream,
          ...(threaded ? {} : { thread: false }),
          tools: [
            betaZodTool({
              name: 'get_weather',
              description: 'The weather of a city',
              inputSchema: z.object({ city: z.string() }),
              run: (input) => {
                seen.push(input);
                return 'rain, 7 degrees';
              },
            }),
          ],
        });
        const final = await runner.runUntilDone();
        assert.equal(seen.length, 1);
        assert.equal(typeof (seen[0] as { city: unknown }).city, 'string');
        const [block] = final.content;
        assert.equal(block?.type === 'text' && block.text, 'tool get_weather said: rain, 7 degrees');
      });

    for (const streaming of [false, true])
      test(`keeps ids, names and inputs of parallel calls apart over three turns, stream: ${streaming}`, async () => {
        const messages = user('Weather and time in parallel, please');
        const ask = (): Promise<Anthropic.Message> => {
          const params = { model: `${from}/tools`, max_tokens: 500, messages, tools: [weather, clock] };
          return streaming ? client.messages.stream(params).finalMessage() : client.messages.create(params);
        };
        const first = await ask();
        assert.equal(first.stop_reason, 'tool_use');
        const calls = callsOf(first.content);
        assert.deepEqual(
          calls.map(({ name }) => name),
          ['get_weather', 'get_time'],
        );
        assert.equal(new Set(calls.map(({ id }) => id)).size, 2);
        assert.deepEqual(
          calls.map(({ input }) => Object.keys(input as object)),
          [['city'], ['zone']],
        );
        messages.push(
          { role: 'assistant', content: first.content },
          {
            role: 'user',
            content: calls.map(({ id, name }) => ({
              type: 'tool_result' as const,
              tool_use_id: id,
              content: [{ type: 'text' as const, text: `result of ${name}` }],
            })),
          },
        );
        const second = await ask();
        assert.equal(second.stop_reason, 'end_turn');
        assert.equal(
          textOf(second.content),
          'tool get_weather said: result of get_weather\ntool get_time said: result of get_time',
        );
        messages.push({ role: 'assistant', content: second.content }, { role: 'user', content: 'And once more' });
        const third = callsOf((await ask()).content);
        assert.equal(third.length, 1);
        assert.ok(!calls.some(({ id }) => id === third[0]?.id), 'ids are not reused');
      });

    test('obeys tool_choice: none, any without parallel calls, and one by name', async () => {
      const params = { model: `${from}/tools`, max_tokens: 500, messages: user('parallel'), tools: [weather, clock] };
      const none = await client.messages.create({ ...params, tool_choice: { type: 'none' } });
      assert.equal(textOf(none.content), 'parallel');
      const any = await client.messages.create({
        ...params,
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
      });
      assert.equal(callsOf(any.content).length, 1);
      const named = await client.messages.create({ ...params, tool_choice: { type: 'tool', name: 'get_time' } });
      assert.deepEqual(
        callsOf(named.content).map(({ name }) => name),
        ['get_time'],
      );
    });

    for (const streaming of [false, true])
      test(`returns an object that fits a JSON schema, stream: ${streaming}`, async () => {
        const params = {
          model: `${from}/json`,
          max_tokens: 500,
          messages: user('Make one up'),
          output_config: { format: zodOutputFormat(answerSchema) },
        };
        const message = streaming
          ? await client.messages.stream(params).finalMessage()
          : await client.messages.parse(params);
        assert.deepEqual(answerSchema.parse(message.parsed_output), JSON.parse(textOf(message.content)));
        assert.equal(message.stop_reason, 'end_turn');
        assert.equal(callsOf(message.content).length, 0, 'no trace of a stand-in tool');
      });

    test('sends images and documents as what they are', async () => {
      const message = await client.messages.create({
        model: `${from}/echo`,
        max_tokens: 500,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG_BASE64 } },
              { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
              { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQ=' } },
              { type: 'text', text: 'What are these?' },
            ],
          },
        ],
      });
      assert.equal(
        textOf(message.content),
        `${PNG_MENTION}\n[image https://example.com/a.png]\n[document application/pdf 8 bytes]\nWhat are these?`,
      );
    });

    for (const streaming of [false, true])
      test(`signs and counts thinking blocks, and accepts them back with tools, stream: ${streaming}`, async () => {
        const messages = user('Think, then call');
        const ask = (): Promise<Anthropic.Message> => {
          const params = {
            model: `${from}/tools`,
            max_tokens: 4_000,
            thinking: { type: 'enabled' as const, budget_tokens: 2_000 },
            messages,
            tools: [weather],
          };
          return streaming ? client.messages.stream(params).finalMessage() : client.messages.create(params);
        };
        const first = await ask();
        const [thinking] = first.content;
        assert.ok(thinking?.type === 'thinking' && thinking.thinking.length > 10);
        // Only the messages format signs: what a chat upstream thought has an empty signature.
        assert.equal(thinking.signature !== '', from !== CHAT_ONLY);
        const [call] = callsOf(first.content);
        assert.ok(call !== undefined);
        messages.push(
          { role: 'assistant', content: first.content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '7 degrees' }] },
        );
        const second = await ask();
        assert.equal(textOf(second.content), 'tool get_weather said: 7 degrees');
      });

    test('accumulates streamed thinking: deltas, signature, then the text', async () => {
      const seen: string[] = [];
      const final = await client.messages
        .stream({
          model: `${from}/reasoning`,
          max_tokens: 4_000,
          thinking: { type: 'enabled', budget_tokens: 2_000 },
          messages: user('Think'),
        })
        .on('thinking', () => seen.push('thinking'))
        .on('signature', () => seen.push('signature'))
        .on('text', () => seen.push('text'))
        .finalMessage();
      const order = seen.filter((kind, at) => kind !== seen[at - 1]);
      assert.deepEqual(
        order,
        ['thinking', 'signature', 'text'].slice(0).filter((kind) => order.includes(kind)),
      );
      assert.ok(order.includes('thinking') && order.includes('text'));
      assert.deepEqual(
        final.content.map(({ type }) => type),
        ['thinking', 'text'],
      );
    });

    test('passes on prompt caching, and reports its tokens apart', async () => {
      if (from === CHAT_ONLY) return; // A plain chat host gets no markers.
      const params = {
        model: `${from}/echo`,
        max_tokens: 100,
        system: [
          {
            type: 'text' as const,
            text: `${from} instructions `.repeat(2_000),
            cache_control: { type: 'ephemeral' as const },
          },
        ],
        messages: user('hello'),
      };
      const cold = await client.messages.create(params);
      const warm = await client.messages.create(params);
      assert.ok((cold.usage.cache_creation_input_tokens ?? 0) > 1_000, JSON.stringify(cold.usage));
      assert.equal(warm.usage.cache_read_input_tokens, cold.usage.cache_creation_input_tokens);
      assert.ok(warm.usage.input_tokens < 100);
    });

    for (const [status, expected, type] of [
      [400, Anthropic.BadRequestError, 'invalid_request_error'],
      [401, Anthropic.InternalServerError, 'api_error'],
      [404, Anthropic.NotFoundError, 'not_found_error'],
      [422, Anthropic.UnprocessableEntityError, 'invalid_request_error'],
      [429, Anthropic.RateLimitError, 'rate_limit_error'],
      [500, Anthropic.InternalServerError, 'api_error'],
      [529, Anthropic.InternalServerError, 'overloaded_error'],
    ] as const)
      test(`throws ${expected.name} for an upstream's ${status}, and rejects a stream before it begins`, async () => {
        const params = { model: `${from}/error-${status}`, max_tokens: 100, messages: user('hi') };
        const wait = status === 429 || status === 529;
        await assert.rejects(client.messages.create({ ...params, stream: true }), (error: unknown) => {
          assert.ok(error instanceof expected, String(error));
          assert.equal(error.type, type);
          assert.equal((error.error as { error: { code: number } }).error.code, error.status);
          if (wait) assert.ok(Number(error.headers.get('retry-after')) >= 1);
          return true;
        });
        // A named wait is honoured, so that the second request would never reach the upstream.
        if (!wait) await assert.rejects(client.messages.create(params), expected);
      });

    test('throws after the text of a response that breaks off', async () => {
      for (const model of [`${from}/cut`, `${from}/error-529`]) {
        const texts: string[] = [];
        const stream = client.messages
          .stream({ model, max_tokens: 100, messages: user('alpha beta gamma delta epsilon zeta after=2') })
          .on('text', (delta) => texts.push(delta));
        await assert.rejects(stream.finalMessage(), Anthropic.APIError);
        if (model.endsWith('cut')) assert.match(texts.join(''), /^alpha/);
      }
    });

    test('ends the stream on abort at once, and the gateway serves the next request', async () => {
      const controller = new AbortController();
      const stream = await client.messages.create(
        { model: `${from}/long`, max_tokens: 10_000, messages: user('tokens=2000 every=10'), stream: true },
        { signal: controller.signal },
      );
      let events = 0;
      const startedMs = performance.now();
      for await (const _event of stream) if (++events === 6) controller.abort();
      assert.ok(events < 200 && performance.now() - startedMs < 5_000);
      const next = await client.messages.create({ model: `${from}/echo`, max_tokens: 50, messages: user('next') });
      assert.equal(textOf(next.content), 'next');
    });
  });

suite('the anthropic client and the gateway itself', () => {
  const params = { model: 'sandbox/echo', max_tokens: 50, messages: user('hi') };

  // @spec auth-2
  test('accepts a bearer token as well as an API key, on both routes', async () => {
    const bearer = new Anthropic({ baseURL: gateway.url, apiKey: null, authToken: API_KEY, maxRetries: 0 });
    assert.equal(textOf((await bearer.messages.create(params)).content), 'hi');
    const { content } = await bearer.beta.messages.create({ ...params, betas: ['interleaved-thinking-2025-05-14'] });
    assert.equal(content[0]?.type, 'text');
  });

  test('throws AuthenticationError for a wrong key, PermissionDeniedError for a management key', async () => {
    for (const options of [{ apiKey: 'wrong' }, { apiKey: null, authToken: 'wrong' }]) {
      const stranger = new Anthropic({ baseURL: gateway.url, authToken: null, maxRetries: 0, ...options });
      await assert.rejects(stranger.messages.create(params), (error: unknown) => {
        assert.ok(error instanceof Anthropic.AuthenticationError);
        assert.equal(error.type, 'authentication_error');
        return true;
      });
    }
    await assert.rejects(
      client.withOptions({ apiKey: MANAGEMENT_KEY }).messages.create(params),
      Anthropic.PermissionDeniedError,
    );
  });

  // @spec messages-16
  test('rejects a thread with the error that the client knows', async () => {
    const threaded = { ...params, thread: { type: 'create' as const } };
    await assert.rejects(
      client.beta.messages.create({ ...threaded, betas: ['message-threads-2026-08-12'] }),
      (error: unknown) =>
        error instanceof Anthropic.BadRequestError && error.errorCode === 'thread_unsupported_request',
    );
  });

  test('throws BadRequestError with the field for a request that violates the schema', async () => {
    await assert.rejects(
      client.messages.create({ ...params, max_tokens: 0 }),
      (error: unknown) => error instanceof Anthropic.BadRequestError && error.message.includes('max_tokens'),
    );
  });

  test('throws NotFoundError with the type that clients check for an unknown model', async () => {
    await assert.rejects(
      client.messages.create({ ...params, model: 'nobody/nothing' }),
      (error: unknown) => error instanceof Anthropic.NotFoundError && error.type === 'not_found_error',
    );
  });

  // @spec messages-35
  test('counts tokens for models of either format', async () => {
    for (const from of [OWN, MESSAGES_ONLY, CHAT_ONLY]) {
      const short = await client.messages.countTokens({ model: `${from}/echo`, messages: user('hello') });
      const long = await client.messages.countTokens({
        model: `${from}/echo`,
        system: 'Be brief.',
        tools: [weather],
        messages: user('hello '.repeat(500)),
      });
      assert.ok(short.input_tokens > 0 && long.input_tokens > short.input_tokens + 300, from);
    }
  });

  test('keeps a hundred concurrent streams apart', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        client.messages.stream({ ...params, messages: user(`caller ${index}`) }).finalText(),
      ),
    );
    assert.deepEqual(
      answers,
      answers.map((_, index) => `caller ${index}`),
    );
  });
});

function checkUsage(usage: Anthropic.Usage): void {
  assert.ok(usage.input_tokens > 0 && usage.output_tokens > 0);
  // Clients of the vendor read these without checking for their presence (@spec messages-33).
  for (const member of [
    'cache_creation',
    'cache_creation_input_tokens',
    'cache_read_input_tokens',
    'inference_geo',
    'output_tokens_details',
    'server_tool_use',
    'service_tier',
  ])
    assert.ok(member in usage, member);
}

suite('models', () => {
  test('are listed page by page, and each can be retrieved', async () => {
    const listed: string[] = [];
    for await (const { id, type } of client.models.list({ limit: 3 })) {
      assert.equal(type, 'model');
      listed.push(id);
    }
    assert.ok(listed.length > 3 && new Set(listed).size === listed.length, listed.join());
    const [first = ''] = listed;
    const model = await client.models.retrieve(first);
    assert.deepEqual([model.id, model.type, model.lifecycle], [first, 'model', 'active']);
    assert.ok(!Number.isNaN(Date.parse(model.created_at)));
    await assert.rejects(client.models.retrieve('acme/none'), Anthropic.NotFoundError);
  });
});
