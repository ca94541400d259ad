import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import type { ChatCompletionFunctionTool, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { z } from 'zod';
import { CHAT_ONLY, MESSAGES_ONLY, MESSAGES_VENDOR, OWN, startBothFormats } from '../support/both-formats.ts';
import { API_KEY, MANAGEMENT_KEY } from '../support/gateway.ts';
import { PNG_DATA_URL, PNG_MENTION } from '../support/files/media.ts';

const gateway = await startBothFormats();
after(() => gateway.close());

const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY, maxRetries: 0 });
const TEXT = 'The quick brown fox: "jumps"\nover  13 lazy dogs, naïve café 🦊.';

const answerSchema = z.object({
  title: z.string(),
  count: z.number().int().min(3).max(9),
  tags: z.array(z.enum(['red', 'green'])).min(1),
  nested: z.object({ deep: z.boolean() }),
});

/** The messages vendor refuses bounds in a schema: they reach its model as words, which a sandbox does not read. */
const boundlessSchema = answerSchema.extend({ count: z.number().int(), tags: z.array(z.enum(['red', 'green'])) });

const weatherSchema = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const }, days: { type: 'integer' as const, minimum: 1 } },
  required: ['city'],
  additionalProperties: false,
};
const weather: ChatCompletionFunctionTool = {
  type: 'function',
  function: { name: 'get_weather', description: 'The weather of a city', parameters: weatherSchema },
};
const clock: ChatCompletionFunctionTool = {
  type: 'function',
  function: {
    name: 'get_time',
    parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
  },
};

/** What the gateway adds to the client's own types. */
interface Reasoned {
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly {
    readonly type: string;
    readonly text?: string;
    readonly signature?: string;
  }[];
}

function user(content: string): ChatCompletionMessageParam[] {
  return [{ role: 'user', content }];
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

for (const from of [OWN, CHAT_ONLY, MESSAGES_ONLY, MESSAGES_VENDOR])
  suite(`the openai client, ${from}`, () => {
    // @spec chat-response-1, chat-response-2
    test('returns text, finish reason, id and usage', async () => {
      const { data, response } = await client.chat.completions
        .create({ model: `${from}/echo`, messages: [{ role: 'system', content: 'Be brief.' }, ...user(TEXT)] })
        .withResponse();
      assert.equal(data.object, 'chat.completion');
      assert.equal(data.id, response.headers.get('x-generation-id'));
      assert.match(data.id, /^gen-/);
      assert.equal(data.model, `${from}/echo`);
      assert.ok(Number.isInteger(data.created));
      assert.equal(data.choices.length, 1);
      assert.equal(data.choices[0]?.index, 0);
      assert.deepEqual([data.choices[0]?.message.role, data.choices[0]?.message.content], ['assistant', TEXT]);
      assert.equal(data.choices[0]?.finish_reason, 'stop');
      assert.ok('system_fingerprint' in data);
      checkUsage(data.usage);
    });

    // @spec chat-38, stream-15
    test('streams what adds up to the complete response, with usage last and no choices', async () => {
      const chunks = await collect(
        await client.chat.completions.create({ model: `${from}/echo`, messages: user(TEXT), stream: true }),
      );
      assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), TEXT);
      assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
      assert.equal(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`)).size, 1);
      assert.ok(chunks.every(({ object }) => object === 'chat.completion.chunk'));
      assert.deepEqual(
        chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? []),
        ['stop'],
      );
      const last = chunks.at(-1);
      assert.deepEqual(last?.choices, []);
      checkUsage(last?.usage ?? undefined);
      assert.ok(chunks.slice(0, -1).every(({ usage }) => usage === undefined || usage === null));
      assert.ok(chunks.length > 5, 'it is streamed');
    });

    test('accumulates a stream to the response without streaming', async () => {
      const whole = await client.chat.completions.create({ model: `${from}/echo`, messages: user(TEXT) });
      const deltas: string[] = [];
      const final = await client.chat.completions
        .stream({ model: `${from}/echo`, messages: user(TEXT) })
        .on('content.delta', ({ delta }) => deltas.push(delta))
        .finalChatCompletion();
      assert.equal(final.choices[0]?.message.content, whole.choices[0]?.message.content);
      assert.equal(deltas.join(''), TEXT);
      assert.equal(final.choices[0]?.finish_reason, whole.choices[0]?.finish_reason);
      assert.equal(final.usage?.completion_tokens, whole.usage?.completion_tokens);
    });

    test('reports a token limit and a stop sequence as the reason of the end', async () => {
      const cut = await client.chat.completions.create({
        model: `${from}/echo`,
        messages: user('one two three four five six seven'),
        max_completion_tokens: 3,
      });
      assert.equal(cut.choices[0]?.finish_reason, 'length');
      assert.equal(cut.usage?.completion_tokens, 3);
      const stopped = await client.chat.completions.create({
        model: `${from}/echo`,
        messages: user('one two STOP three'),
        stop: ['STOP'],
      });
      assert.equal(stopped.choices[0]?.message.content, 'one two ');
      assert.equal(stopped.choices[0]?.finish_reason, 'stop');
    });

    for (const streaming of [false, true])
      test(`calls and runs a tool and gets the response, stream: ${streaming}`, async () => {
        const seen: { city: string }[] = [];
        const body = {
          model: `${from}/tools`,
          messages: user('What is the weather in Oslo?'),
          tools: [
            {
              type: 'function' as const,
              function: {
                name: 'get_weather',
                description: 'The weather of a city',
                parameters: weatherSchema,
                parse: (text: string) => JSON.parse(text) as { city: string },
                function: (args: { city: string }) => {
                  seen.push(args);
                  return 'rain, 7 degrees';
                },
              },
            },
          ],
        };
        const answer = streaming
          ? await client.chat.completions.runTools({ ...body, stream: true }).finalContent()
          : await client.chat.completions.runTools(body).finalContent();
        assert.equal(seen.length, 1);
        assert.equal(typeof seen[0]?.city, 'string');
        assert.match(answer ?? '', /^tool get_weather said: rain, 7 degrees$/);
      });

    for (const streaming of [false, true])
      test(`keeps ids, names and arguments of parallel calls apart over three turns, stream: ${streaming}`, async () => {
        const messages = user('Weather and time in parallel, please');
        const ask = async (): Promise<OpenAI.ChatCompletion.Choice> => {
          const body = { model: `${from}/tools`, messages, tools: [weather, clock] };
          const completion = streaming
            ? await client.chat.completions.stream(body).finalChatCompletion()
            : await client.chat.completions.create(body);
          return completion.choices[0] as OpenAI.ChatCompletion.Choice;
        };
        const first = await ask();
        assert.equal(first.finish_reason, 'tool_calls');
        const calls = (first.message.tool_calls ?? []).filter((call) => call.type === 'function');
        assert.deepEqual(
          calls.map((call) => call.function.name),
          ['get_weather', 'get_time'],
        );
        assert.equal(new Set(calls.map(({ id }) => id)).size, 2);
        assert.deepEqual(
          calls.map((call) => Object.keys(JSON.parse(call.function.arguments) as object).includes('city')),
          [true, false],
        );
        messages.push(first.message);
        for (const call of calls)
          messages.push({ role: 'tool', tool_call_id: call.id, content: `result of ${call.function.name}` });
        const second = await ask();
        assert.equal(second.finish_reason, 'stop');
        assert.equal(
          second.message.content,
          'tool get_weather said: result of get_weather\ntool get_time said: result of get_time',
        );
        messages.push(second.message, { role: 'user', content: 'And once more' });
        const third = await ask();
        const [again] = third.message.tool_calls ?? [];
        assert.equal(third.message.tool_calls?.length, 1);
        assert.ok(again !== undefined && !calls.some(({ id }) => id === again.id), 'ids are not reused');
      });

    test('obeys tool_choice: none, required, and one by name', async () => {
      const body = { model: `${from}/echo`, messages: user('hello'), tools: [weather, clock] };
      const none = await client.chat.completions.create({ ...body, model: `${from}/tools`, tool_choice: 'none' });
      assert.equal(none.choices[0]?.message.content, 'hello');
      const required = await client.chat.completions.create({ ...body, tool_choice: 'required' });
      assert.equal(required.choices[0]?.finish_reason, 'tool_calls');
      const named = await client.chat.completions.create({
        ...body,
        tool_choice: { type: 'function', function: { name: 'get_time' } },
      });
      const [call] = named.choices[0]?.message.tool_calls ?? [];
      assert.equal(call?.type === 'function' && call.function.name, 'get_time');
    });

    // A plain host of the messages format gets the schema in words, which the sandbox does not read.
    for (const streaming of from === MESSAGES_ONLY ? [] : [false, true])
      test(`returns an object that fits a JSON schema, stream: ${streaming}`, async () => {
        const schema = from === MESSAGES_VENDOR ? boundlessSchema : answerSchema;
        const body = {
          model: `${from}/json`,
          messages: user('Make one up'),
          response_format: zodResponseFormat(schema, 'answer'),
        };
        const completion = streaming
          ? await client.chat.completions.stream(body).finalChatCompletion()
          : await client.chat.completions.parse(body);
        const choice = completion.choices[0];
        assert.deepEqual(schema.parse(choice?.message.parsed), JSON.parse(choice?.message.content ?? ''));
        assert.equal(choice?.finish_reason, 'stop');
        assert.equal(choice?.message.tool_calls?.length ?? 0, 0, 'no trace of a stand-in tool');
      });

    test('sends an image as an image', async () => {
      const completion = await client.chat.completions.create({
        model: `${from}/echo`,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is this?' },
              { type: 'image_url', image_url: { url: PNG_DATA_URL } },
              { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
            ],
          },
        ],
      });
      assert.equal(
        completion.choices[0]?.message.content,
        `What is this?\n${PNG_MENTION}\n[image https://example.com/a.png]`,
      );
    });

    for (const streaming of [false, true])
      test(`returns and counts reasoning beside the text, and accepts it back, stream: ${streaming}`, async () => {
        const messages = user('Think about it');
        const body = {
          model: `${from}/reasoning`,
          messages,
          reasoning_effort: 'low' as const,
          max_completion_tokens: 4_000,
        };
        const completion = streaming
          ? await client.chat.completions.stream(body).finalChatCompletion()
          : await client.chat.completions.create(body);
        const message = completion.choices[0]?.message as OpenAI.ChatCompletionMessage & Reasoned;
        assert.equal(message.content, 'Think about it');
        assert.ok((completion.usage?.completion_tokens_details?.reasoning_tokens ?? 0) > 0);
        if (!streaming) {
          assert.match(message.reasoning ?? '', /so I answer/);
          assert.equal(message.reasoning_details?.map(({ text }) => text ?? '').join(''), message.reasoning);
        }
        const next = await client.chat.completions.create({
          ...body,
          messages: [...messages, message, { role: 'user', content: 'Go on' }],
        });
        assert.equal(next.choices[0]?.message.content, 'Go on');
      });

    test('streams reasoning before the text, in pieces', async () => {
      const chunks = await collect(
        await client.chat.completions.create({
          model: `${from}/reasoning`,
          messages: user('Think'),
          reasoning_effort: 'low',
          max_completion_tokens: 4_000,
          stream: true,
        }),
      );
      const kinds = chunks.flatMap(({ choices }) => {
        const delta: (Reasoned & { readonly content?: string | null }) | undefined = choices[0]?.delta;
        return delta?.reasoning ? ['reasoning'] : delta?.content ? ['text'] : [];
      });
      assert.ok(kinds.filter((kind) => kind === 'reasoning').length > 1);
      assert.ok(kinds.lastIndexOf('reasoning') < kinds.indexOf('text'));
    });

    for (const [status, expected] of [
      [400, OpenAI.BadRequestError],
      [401, OpenAI.InternalServerError],
      [404, OpenAI.NotFoundError],
      [422, OpenAI.UnprocessableEntityError],
      [429, OpenAI.RateLimitError],
      [500, OpenAI.InternalServerError],
      [529, OpenAI.InternalServerError],
    ] as const)
      test(`throws ${expected.name} for an upstream's ${status}, and rejects a stream before it begins`, async () => {
        const body = { model: `${from}/error-${status}`, messages: user('hi') };
        const wait = status === 429 || status === 529;
        await assert.rejects(client.chat.completions.create({ ...body, stream: true }), (error: unknown) => {
          assert.ok(error instanceof expected, String(error));
          assert.ok(error.message.length > 10);
          const gatewayCode = (error.error as { code: number }).code;
          assert.equal(gatewayCode, error.status);
          if (wait) assert.ok(Number(error.headers.get('retry-after')) >= 1);
          return true;
        });
        // A named wait is honoured, so that the second request would never reach the upstream.
        if (!wait) await assert.rejects(client.chat.completions.create(body), expected);
      });

    test('throws after the text of a response that breaks off', async () => {
      for (const model of [`${from}/cut`, `${from}/error-500`]) {
        const chunks: string[] = [];
        const stream = await client.chat.completions.create({
          model,
          messages: user('alpha beta gamma delta epsilon zeta after=2'),
          stream: true,
        });
        const reading = (async () => {
          for await (const chunk of stream) chunks.push(chunk.choices[0]?.delta.content ?? '');
        })();
        await assert.rejects(reading, OpenAI.APIError);
        assert.match(chunks.join(''), /^alpha/);
      }
    });

    test('ends the stream on abort at once, and the gateway serves the next request', async () => {
      const controller = new AbortController();
      const { data: stream, response } = await client.chat.completions
        .create(
          { model: `${from}/long`, messages: user('tokens=2000 every=10'), stream: true },
          { signal: controller.signal },
        )
        .withResponse();
      let chunks = 0;
      const startedMs = performance.now();
      for await (const _chunk of stream) if (++chunks === 5) controller.abort();
      assert.ok(chunks < 200 && performance.now() - startedMs < 5_000);
      const next = await client.chat.completions.create({ model: `${from}/echo`, messages: user('next') });
      assert.equal(next.choices[0]?.message.content, 'next');
      const id = response.headers.get('x-generation-id') ?? '';
      assert.equal((await settled(id)).cancelled, true);
    });
  });

suite('the openai client and the gateway itself', () => {
  const messages = user('hi');

  test('throws AuthenticationError for a wrong key, PermissionDeniedError for a management key', async () => {
    const model = 'sandbox/echo';
    for (const stream of [false, true]) {
      await assert.rejects(
        client.withOptions({ apiKey: 'wrong' }).chat.completions.create({ model, messages, stream }),
        OpenAI.AuthenticationError,
      );
      await assert.rejects(
        client.withOptions({ apiKey: MANAGEMENT_KEY }).chat.completions.create({ model, messages, stream }),
        OpenAI.PermissionDeniedError,
      );
    }
  });

  test('throws BadRequestError with the field for a request that violates the schema', async () => {
    await assert.rejects(
      client.chat.completions.create({ model: 'sandbox/echo', messages, temperature: 3 }),
      (error: unknown) => error instanceof OpenAI.BadRequestError && error.message.includes('temperature'),
    );
  });

  test('throws NotFoundError for an unknown model', async () => {
    await assert.rejects(client.chat.completions.create({ model: 'nobody/nothing', messages }), OpenAI.NotFoundError);
  });

  test('accepts the older fields: max_tokens, role developer, name, a string for stop', async () => {
    const completion = await client.chat.completions.create({
      model: 'messages-only/echo',
      max_tokens: 100,
      stop: 'never',
      user: 'somebody@example.com',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', name: 'ann', content: 'hello' },
      ],
    });
    assert.equal(completion.choices[0]?.message.content, 'ann: hello');
  });

  test('keeps a hundred concurrent streams apart', async () => {
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        client.chat.completions.stream({ model: 'sandbox/echo', messages: user(`caller ${index}`) }).finalContent(),
      ),
    );
    assert.deepEqual(
      answers,
      answers.map((_, index) => `caller ${index}`),
    );
  });
});

function checkUsage(usage: OpenAI.CompletionUsage | undefined): void {
  assert.ok(usage !== undefined);
  assert.ok(usage.prompt_tokens > 0 && usage.completion_tokens > 0);
  assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
}

/** The record of a generation, once it is stored. */
async function settled(id: string): Promise<{ readonly cancelled: boolean }> {
  for (let tries = 0; tries < 200; tries++) {
    const response = await fetch(`${gateway.baseUrl}/generation?id=${id}`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const { data } = (await response.json()) as { data?: { cancelled: boolean } };
    if (response.status === 200 && data !== undefined) return data;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return assert.fail(`no record of ${id}`);
}

suite('models', () => {
  test('are listed and retrieved, and an unknown model is a NotFoundError', async () => {
    const listed: string[] = [];
    for await (const { id } of client.models.list()) listed.push(id);
    const [first] = listed;
    assert.ok(first !== undefined && first.includes('/'));
    const model = await client.models.retrieve(first);
    assert.deepEqual([model.id, model.object, typeof model.created], [first, 'model', 'number']);
    assert.equal(model.owned_by, first.split('/')[0]);
    await assert.rejects(client.models.retrieve('acme/none'), OpenAI.NotFoundError);
    await assert.rejects(client.models.retrieve('none'), OpenAI.NotFoundError);
  });
});
