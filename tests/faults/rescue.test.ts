import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '../../src/lib/json.ts';
import {
  BREAKS,
  breakingOff,
  chatBeginning,
  IDLE_MS,
  messagesBeginning,
  type Break,
} from '../support/upstreams/broken-answers.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { speakChat, speakMessages } from '../support/upstreams/scripted-formats.ts';
import {
  chatChunk,
  chatStream,
  json,
  messagesStream,
  sse,
  startUpstream,
  stream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';

const STATED = 'The bridge was built in the year 1873 by a guild of masons, ';
const REST = 'and it stands to this day, although nobody uses it any more.';
const WHOLE = STATED + REST;
const messages = [{ role: 'user' as const, content: 'When was the bridge built?' }];
const RESCUE = { 'x-service-rescue': 'enabled', 'x-service-metadata': 'enabled' };

interface Rescued {
  readonly gateway: RunningGateway;
  readonly first: ScriptedUpstream;
  readonly second: ScriptedUpstream;
}

interface Setup {
  readonly first: Script;
  readonly second: Script;
  /** Default: chat; the messages format is spoken by a model that goes on from a last turn of the assistant. */
  readonly formats?: readonly ['chat' | 'messages', 'chat' | 'messages'];
  /** Whether the second goes on from a last turn of the assistant. Default: as its adapter knows. */
  readonly prefill?: boolean;
  readonly model?: string;
  /** YAML after that of the models. */
  readonly more?: string;
  readonly thirdBaseUrl?: string;
  readonly idleMs?: number;
  readonly totalMs?: number;
}

const ADAPTERS = { chat: 'openai-compatible', messages: 'anthropic' };
const MODELS = { chat: 'one-2026', messages: 'claude-sonnet-4-5' };

/** `acme/both` is served by `first`, and then by `second`. */
async function start(t: TestContext, setup: Setup): Promise<Rescued> {
  const { formats = ['chat', 'chat'], prefill, more = '' } = setup;
  const first = await startUpstream(setup.first);
  const second = await startUpstream(setup.second);
  const [one, two] = formats;
  const third =
    setup.thirdBaseUrl === undefined
      ? ''
      : `third: { adapter: openai-compatible, base_url: "${setup.thirdBaseUrl}", api_key: upstream-secret-3 }`;
  const reported = prefill === undefined ? '' : `, assistant_prefill: ${prefill}`;
  const gateway = await startGateway({
    yaml: `
timeouts: { idle_ms: ${setup.idleMs ?? 60_000}, total_ms: ${setup.totalMs ?? 60_000} }
providers:
  first: { adapter: ${ADAPTERS[one]}, name: First, base_url: "${first.baseUrl}", api_key: upstream-secret-1 }
  second: { adapter: ${ADAPTERS[two]}, name: Second, base_url: "${second.baseUrl}", api_key: upstream-secret-2 }
  ${third}
models:
  acme/both:
    endpoints:
      - { provider: first, model: ${MODELS[one]}, price: { prompt: 1, completion: 2 } }
      - { provider: second, model: ${setup.model ?? MODELS[two]}, price: { prompt: 3, completion: 5 }${reported} }
  acme/first:
    endpoints: [{ provider: first, model: ${MODELS[one]}, price: { prompt: 1, completion: 2 } }]
  acme/alone:
    endpoints: [{ provider: first, model: ${MODELS[one]}, price: { prompt: 1, completion: 2 }${reported} }]
${more}`,
  });
  t.after(async () => {
    await gateway.close();
    await first.close();
    await second.close();
  });
  return { gateway, first, second };
}

interface Received {
  readonly text: string;
  readonly finish: string | null;
  /** What the SDK threw. */
  readonly error: unknown;
  readonly metadata: JsonObject | undefined;
  readonly usage: { readonly prompt: number; readonly completion: number; readonly cost: number } | undefined;
  readonly ids: ReadonlySet<string>;
  readonly models: ReadonlySet<string>;
  readonly generationId: string;
}

type Listen = (gateway: RunningGateway, body?: object, headers?: Record<string, string>) => Promise<Received>;

/** A `fetch` for an SDK that keeps what came, so that its bytes can be held to the format. */
function recording(): { readonly fetch: typeof fetch; readonly raw: () => string; readonly id: () => string } {
  let raw = '';
  let id = '';
  return {
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      id = response.headers.get('x-generation-id') ?? '';
      raw = await response.text();
      return new Response(raw, response);
    },
    raw: () => raw,
    id: () => id,
  };
}

const listenInChat: Listen = async (gateway, body = {}, headers = RESCUE) => {
  const tape = recording();
  const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY, maxRetries: 0, fetch: tape.fetch });
  let error: unknown;
  let text = '';
  try {
    const answer = await client.chat.completions.create(
      { model: 'acme/both', messages, ...body, stream: true },
      { headers },
    );
    for await (const chunk of answer) text += chunk.choices[0]?.delta.content ?? '';
  } catch (thrown) {
    error = thrown;
  }
  const strict = readChatStream(tape.raw());
  assert.equal(text, strict.text);
  const last = strict.chunks.at(-1) as { usage?: Record<string, number>; service_metadata?: JsonObject };
  const { usage } = last;
  return {
    text,
    finish: strict.finish,
    error,
    metadata: last.service_metadata,
    usage: usage && {
      prompt: usage['prompt_tokens'] ?? 0,
      completion: usage['completion_tokens'] ?? 0,
      cost: usage['cost'] ?? 0,
    },
    ids: new Set(strict.chunks.map((chunk) => String(chunk['id']))),
    models: new Set(strict.chunks.map((chunk) => String(chunk['model']))),
    generationId: tape.id(),
  };
};

const listenInMessages: Listen = async (gateway, body = {}, headers = RESCUE) => {
  const tape = recording();
  const client = new Anthropic({ baseURL: gateway.url, apiKey: API_KEY, maxRetries: 0, fetch: tape.fetch });
  let error: unknown;
  let text = '';
  try {
    const answer = client.messages.stream({ model: 'acme/both', max_tokens: 500, messages, ...body }, { headers });
    answer.on('text', (piece) => (text += piece));
    await answer.finalMessage();
  } catch (thrown) {
    error = thrown;
  }
  const strict = readMessagesStream(tape.raw());
  assert.equal(text, strict.text);
  const opening = strict.events[0] as unknown as { message: { id: string; model: string } };
  const delta = strict.events.find(({ type }) => type === 'message_delta') as
    | { usage?: Record<string, number> }
    | undefined;
  const usage = delta?.usage;
  return {
    text,
    finish: strict.stopReason,
    error,
    metadata: strict.events.at(-1)?.['service_metadata'] as JsonObject | undefined,
    usage: usage && {
      prompt: usage['input_tokens'] ?? 0,
      completion: usage['output_tokens'] ?? 0,
      cost: usage['cost'] ?? 0,
    },
    ids: new Set([opening.message.id]),
    models: new Set([opening.message.model]),
    generationId: tape.id(),
  };
};

const CALLERS = [
  ['chat', listenInChat],
  ['messages', listenInMessages],
] as const;
const BEGINNINGS = { chat: chatBeginning, messages: messagesBeginning };
const SPEAK = { chat: speakChat, messages: speakMessages };
const FINISH = { chat: 'stop', messages: 'end_turn' };

function stageOf(metadata: JsonObject | undefined): JsonObject | undefined {
  const { pipeline = [] } = (metadata ?? {}) as { pipeline?: readonly JsonObject[] };
  return pipeline.find(({ type }) => type === 'rescue');
}

function methodOf(metadata: JsonObject | undefined): unknown {
  const { data = {} } = (stageOf(metadata) ?? {}) as { data?: JsonObject };
  return data['method'];
}

/** Whether the second endpoint got a prefill: the text so far as its last turn. */
function lastTurn({ arrived }: ScriptedUpstream): { readonly role: string; readonly content: unknown } {
  const { messages: turns = [] } = (arrived.at(-1)?.body ?? {}) as {
    messages?: readonly { role: string; content: unknown }[];
  };
  const last = turns.at(-1);
  assert.ok(last);
  return last;
}

const FORMATS = ['chat', 'messages'] as const;

// @spec stream-12
test('shows the upstream body of every attempt, in order', async (t) => {
  const { gateway } = await start(t, {
    first: breakingOff(chatBeginning(STATED), 'cut', 'chat'),
    second: speakChat(` ${REST}`),
    prefill: true,
  });
  const debug = { echo_upstream_body: true };
  const answer = await gateway.post('/chat/completions', { model: 'acme/both', stream: true, messages, debug }, RESCUE);
  const chunks = (await answer.text())
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map(
      (frame) => JSON.parse(frame.slice(6)) as { provider: string; debug?: JsonObject; choices: readonly JsonObject[] },
    );
  const shown = chunks.flatMap((chunk, at) => (chunk.debug === undefined ? [] : [{ at, ...chunk }]));
  assert.deepEqual(
    shown.map(({ provider }) => provider),
    ['First', 'Second'],
  );
  const [first, second] = shown.map((one) => JSON.stringify(one.debug));
  assert.ok(first?.includes(messages[0]?.content ?? '-') && !first.includes('guild of masons'));
  assert.ok(second?.includes('guild of masons'), 'the one that went on was given the text');
  const stated = (some: typeof chunks): string =>
    some.flatMap(({ choices }) => choices.map(({ delta }) => (delta as { content?: string }).content ?? '')).join('');
  assert.equal(shown[0]?.at, 0);
  assert.deepEqual([stated(chunks.slice(0, shown[1]?.at)), stated(chunks)], [STATED, WHOLE], 'before what came of it');
});

for (const [caller, listen] of CALLERS)
  suite(`a text stream that breaks off, ${caller} caller`, () => {
    for (const from of FORMATS)
      for (const to of FORMATS)
        for (const kind of BREAKS) {
          const breaking = breakingOff(BEGINNINGS[from](STATED), kind, from);
          // @spec fallback-24, fallback-26
          test(`continues from its last word: ${from} to ${to}, ${kind}`, async (t) => {
            const { gateway, second } = await start(t, {
              first: breaking,
              second: SPEAK[to](` ${REST}`),
              formats: [from, to],
              ...(kind === 'silence' && { idleMs: IDLE_MS }),
              prefill: true,
            });
            const received = await listen(gateway);
            assert.equal(received.error, undefined);
            assert.deepEqual([received.text, received.finish], [WHOLE, FINISH[caller]]);
            assert.equal(lastTurn(second).role, 'assistant');
            assert.match(JSON.stringify(lastTurn(second).content), /by a guild of masons,"/);
            assert.equal(stageOf(received.metadata)?.['name'], 'mid-stream-rescue');
            assert.deepEqual(stageOf(received.metadata)?.['data'], {
              method: 'prefill',
              characters: STATED.length,
              from: { provider: 'First', model: 'acme/both' },
              to: { provider: 'Second', model: 'acme/both' },
            });
          });

          // @spec fallback-26
          test(`is joined to a response that begins with the same words: ${from} to ${to}, ${kind}`, async (t) => {
            const { gateway, second } = await start(t, {
              first: breaking,
              second: SPEAK[to](WHOLE),
              formats: [from, to],
              ...(kind === 'silence' && { idleMs: IDLE_MS }),
              prefill: false,
            });
            const received = await listen(gateway);
            assert.equal(received.error, undefined);
            assert.deepEqual([received.text, received.finish], [WHOLE, FINISH[caller]]);
            assert.equal(lastTurn(second).role, 'user');
            assert.equal(methodOf(received.metadata), 'restart');
            assert.deepEqual([received.ids.size, ...received.models], [1, 'acme/both']);
          });
        }

    // @spec fallback-27
    test('ends with the clean error when the other response differs', async (t) => {
      const { gateway, second } = await start(t, {
        first: breakingOff(chatBeginning(STATED), 'cut', 'chat'),
        second: speakChat('Nobody knows when it was built.'),
      });
      const received = await listen(gateway);
      assert.equal(received.text, STATED);
      assert.ok(received.error instanceof Error);
      assert.equal(second.arrived.length, 1);
      const record = await gateway.app.generations.find(received.generationId);
      assert.deepEqual([record?.status, record?.costNanoUsd, record?.providerName], [502, 0, 'First']);
      assert.deepEqual(
        record?.attempts.map(({ provider, status }) => [provider, status]),
        [
          ['first', 200],
          ['second', 200],
        ],
      );
    });

    // @spec fallback-25
    test('is not continued after a tool call was delivered', async (t) => {
      const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":' } };
      const { gateway, second } = await start(t, {
        first: breakingOff(chatBeginning(STATED) + sse([chatChunk({ tool_calls: [call] })]), 'cut', 'chat'),
        second: speakChat(WHOLE),
      });
      const tools =
        caller === 'chat'
          ? [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
          : [{ name: 'look', input_schema: { type: 'object' } }];
      const received = await listen(gateway, { tools });
      assert.ok(received.error instanceof Error);
      assert.equal(second.arrived.length, 0);
    });

    test('may end in a tool call of the continuing endpoint', async (t) => {
      const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
      const { gateway } = await start(t, {
        first: breakingOff(chatBeginning(STATED), 'cut', 'chat'),
        second: stream(
          chatBeginning(STATED) + sse([chatChunk({ tool_calls: [call] }), chatChunk({}, 'tool_calls'), '[DONE]']),
        ),
      });
      const tools =
        caller === 'chat'
          ? [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
          : [{ name: 'look', input_schema: { type: 'object' } }];
      const received = await listen(gateway, { tools });
      assert.equal(received.error, undefined);
      assert.deepEqual([received.text, received.finish], [STATED, caller === 'chat' ? 'tool_calls' : 'tool_use']);
    });

    for (const [configured, header, text] of [
      [false, undefined, STATED],
      [false, 'disabled', STATED],
      [false, 'yes', STATED],
      [false, 'Enabled', WHOLE],
      [true, undefined, WHOLE],
      [true, 'yes', WHOLE],
      [true, 'DISABLED', STATED],
    ] as const)
      // @spec fallback-24, request-26
      test(`is continued when it is enabled: configured ${configured}, header ${header}`, async (t) => {
        const { gateway, second } = await start(t, {
          first: breakingOff(chatBeginning(STATED), 'cut', 'chat'),
          second: speakChat(WHOLE),
          more: `rescue: { enabled: ${configured} }`,
        });
        const received = await listen(gateway, {}, header === undefined ? {} : { 'x-service-rescue': header });
        assert.deepEqual([received.text, received.error === undefined], [text, text === WHOLE]);
        assert.equal(second.arrived.length, text === WHOLE ? 1 : 0);
      });

    // @spec fallback-25
    test('is not continued when the request forbids fallbacks', async (t) => {
      const { gateway, second } = await start(t, {
        first: breakingOff(chatBeginning(STATED), 'cut', 'chat'),
        second: speakChat(WHOLE),
      });
      const provider = { allow_fallbacks: false, order: ['first', 'second'] };
      const received = await listen(gateway, { provider });
      assert.ok(received.error instanceof Error);
      assert.equal(second.arrived.length, 0);
    });

    test('is joined when a response that began otherwise repeats its end', async (t) => {
      const ending = 'and since that day the guild of masons of the old town keeps the keys to both of its gates, ';
      const { gateway } = await start(t, {
        first: breakingOff(chatBeginning(STATED + ending), 'cut', 'chat'),
        second: speakChat(`Masons built it, ${ending}${REST}`),
      });
      const received = await listen(gateway);
      assert.deepEqual([received.text, received.error], [STATED + ending + REST, undefined]);
    });

    test("is continued when the upstream's finish reason is an error", async (t) => {
      const { gateway } = await start(t, {
        first: stream(chatBeginning(STATED) + sse([chatChunk({}, 'insufficient_system_resource'), '[DONE]'])),
        second: speakChat(WHOLE),
      });
      const received = await listen(gateway);
      assert.deepEqual([received.text, received.finish], [WHOLE, FINISH[caller]]);
    });

    // @spec fallback-28
    test('is continued by the next model, under the name of the first', async (t) => {
      const { gateway } = await start(t, {
        first: breakingOff(chatBeginning(STATED), 'cut', 'chat'),
        second: speakChat(WHOLE),
        more: '  acme/other: { endpoints: [{ provider: second, model: two-2026 }] }',
      });
      const received = await listen(gateway, { model: 'acme/first', models: ['acme/first', 'acme/other'] });
      assert.deepEqual([received.text, ...received.models], [WHOLE, 'acme/first']);
      const record = await gateway.app.generations.find(received.generationId);
      assert.deepEqual(
        [record?.model, record?.costNanoUsd, record?.warnings.map(({ code }) => code)],
        ['acme/first', 44_000, ['answer-rescued', 'price-unknown']],
        'the price of the second is unknown',
      );
    });

    test('ends with the error of its break when the time of the request is over meanwhile', async (t) => {
      const { gateway, second } = await start(t, {
        first: breakingOff(chatBeginning(STATED), 'cut', 'chat'),
        second: () => undefined,
        totalMs: 2_000,
      });
      const received = await listen(gateway);
      assert.equal(received.text, STATED);
      assert.match(String(received.error), /connection to the provider broke/);
      assert.equal(second.arrived.length, 1);
    });

    // @spec fallback-29
    test('costs both parts: the first by an estimate at its price, the second at its own', async (t) => {
      const { gateway } = await start(t, {
        first: breakingOff(chatBeginning(STATED), 'cut', 'chat'),
        second: speakChat(REST),
        prefill: true,
      });
      const received = await listen(gateway);
      const record = await gateway.app.generations.find(received.generationId);
      assert.equal(record?.usageSource, 'estimated');
      // The second says 10 and 5 tokens: 3 and 5 USD per million of them.
      const firstPrompt = (record?.tokensPrompt ?? 0) - 10;
      const firstCompletion = Math.ceil(STATED.length / 4);
      assert.ok(firstPrompt > 0);
      assert.equal(record?.tokensCompletion, firstCompletion + 5);
      const expected = firstPrompt * 1_000 + firstCompletion * 2_000 + 10 * 3_000 + 5 * 5_000;
      assert.equal(record?.costNanoUsd, expected);
      assert.deepEqual(received.usage, {
        prompt: firstPrompt + 10,
        completion: firstCompletion + 5,
        cost: expected / 1e9,
      });
      const [broken, whole] = record?.attempts ?? [];
      assert.ok((broken?.part?.endMs ?? -1) >= (broken?.startMs ?? 0), 'the first part ended');
      assert.equal(whole?.part?.endMs, undefined, 'the second one ended with the response');
      assert.partialDeepStrictEqual(
        record?.attempts.map(({ part }) => part),
        [
          {
            tokensPrompt: firstPrompt,
            tokensCompletion: firstCompletion,
            costNanoUsd: firstPrompt * 1_000 + firstCompletion * 2_000,
          },
          { tokensPrompt: 10, tokensCompletion: 5, costNanoUsd: 55_000 },
        ],
      );
      assert.deepEqual(
        record?.warnings.map(({ code }) => code),
        ['answer-rescued'],
      );
    });
  });

suite('an endpoint that continues', () => {
  const breaking = (kind: Break = 'cut'): Script => breakingOff(chatBeginning(STATED), kind, 'chat');

  test('is called again without the prefill when it refuses it', async (t) => {
    const { gateway, second } = await start(t, {
      first: breaking(),
      prefill: true,
      second: (arrived, response, request) => {
        const { messages: turns } = arrived.body as { messages: readonly { role: string }[] };
        const script =
          turns.at(-1)?.role === 'assistant'
            ? json(400, { error: { message: 'This model does not support assistant message prefill.' } })
            : speakChat(WHOLE);
        return script(arrived, response, request);
      },
    });
    assert.equal((await listenInChat(gateway)).text, WHOLE);
    assert.equal(second.arrived.length, 2);
  });

  test('may repeat the prefill before it continues', async (t) => {
    const { gateway } = await start(t, { first: breaking(), second: speakChat(WHOLE), prefill: true });
    assert.equal((await listenInChat(gateway)).text, WHOLE);
  });

  for (const [name, host, expected, requested] of [
    ['is restarted when it may have repeated a short prefill', speakChat('No, it is not.'), 'No, it is not.', 2],
    ['goes on from few characters that it does not repeat', speakChat('pe, it is not.'), 'Nope, it is not.', 1],
  ] as const)
    test(name, async (t) => {
      const first = breakingOff(chatBeginning('No'), 'cut', 'chat');
      const { gateway, second } = await start(t, { first, second: host, prefill: true });
      const received = await listenInChat(gateway);
      assert.deepEqual([received.text, received.error], [expected, undefined]);
      assert.equal(second.arrived.length, requested);
    });

  test('is not trusted when it repeats a short prefill, and writes something else in a restart', async (t) => {
    const first = breakingOff(chatBeginning('No'), 'cut', 'chat');
    const { gateway, second } = await start(t, {
      first,
      prefill: true,
      second: (arrived, response, request) => {
        const { messages: turns } = arrived.body as { messages: readonly { role: string }[] };
        return speakChat(turns.at(-1)?.role === 'assistant' ? 'No, it is not.' : 'Yes.')(arrived, response, request);
      },
    });
    const received = await listenInChat(gateway);
    assert.equal(received.text, 'No');
    assert.notEqual(received.error, undefined);
    assert.equal(second.arrived.length, 2);
  });

  test('restarts after white space, whatever it begins with', async (t) => {
    const first = breakingOff(chatBeginning('\n\n'), 'cut', 'chat');
    const { gateway, second } = await start(t, { first, second: speakChat('\nIt is not.'), prefill: true });
    const received = await listenInChat(gateway);
    assert.deepEqual([received.text, received.error], ['\n\nIt is not.', undefined]);
    assert.deepEqual([second.arrived.length, lastTurn(second).role], [1, 'user']);
  });

  test('is recognized by its model: Claude from 4.6 on restarts', async (t) => {
    for (const [model, role] of [
      ['claude-sonnet-4-5', 'assistant'],
      ['claude-sonnet-4-6', 'user'],
    ] as const) {
      const { gateway, second } = await start(t, {
        first: breaking(),
        second: speakMessages('Something else.'),
        formats: ['chat', 'messages'],
        model,
      });
      await listenInChat(gateway);
      assert.equal(lastTurn(second).role, role);
    }
  });

  for (const input of [
    { reasoning: { effort: 'low' } },
    { response_format: { type: 'json_object' } },
    { tools: [{ type: 'function', function: { name: 'look' } }], tool_choice: 'required' },
  ])
    test(`gets no prefill when the request needs more than text: ${Object.keys(input).join(', ')}`, async (t) => {
      const { gateway, second } = await start(t, { first: breaking(), second: speakChat(WHOLE), prefill: true });
      assert.equal((await listenInChat(gateway, input)).text, WHOLE);
      assert.deepEqual([second.arrived.length, lastTurn(second).role], [1, 'user']);
    });

  test('gets what is left of max_tokens', async (t) => {
    const { gateway, second } = await start(t, { first: breaking(), second: speakChat(REST), prefill: true });
    await listenInChat(gateway, { max_tokens: 100 });
    assert.equal(second.arrived.at(-1)?.body['max_tokens'], 100 - Math.ceil(STATED.length / 4));
  });

  test('may be the same again when it is the only one', async (t) => {
    let requestedCount = 0;
    const { gateway } = await start(t, {
      first: (...call) => (requestedCount++ === 0 ? breaking() : speakChat(REST))(...call),
      second: speakChat('unused'),
      prefill: true,
    });
    const received = await listenInChat(gateway, { model: 'acme/alone' });
    assert.deepEqual([received.text, requestedCount], [WHOLE, 2]);
  });

  const THREE = (prefill: boolean): string => `  acme/three:
    endpoints:
      - { provider: first, model: one-2026, price: { prompt: 1, completion: 2 } }
      - { provider: second, model: one-2026, price: { prompt: 1, completion: 2 } }
      - { provider: third, model: one-2026, price: { prompt: 1, completion: 2 }, assistant_prefill: ${prefill} }
`;

  test('may break off itself, and the next continues both parts', async (t) => {
    const third = await startUpstream(speakChat(WHOLE));
    t.after(() => third.close());
    const { gateway } = await start(t, {
      first: breaking(),
      second: breakingOff(chatBeginning(`${STATED}and it stands `), 'early end', 'chat'),
      more: THREE(false),
      thirdBaseUrl: third.baseUrl,
    });
    const received = await listenInChat(gateway, { model: 'acme/three' });
    assert.equal(received.text, WHOLE);
    const record = await gateway.app.generations.find(received.generationId);
    assert.deepEqual(
      record?.attempts.map(({ provider, part }) => [provider, part !== undefined]),
      [
        ['first', true],
        ['second', true],
        ['third', true],
      ],
    );
    assert.ok((record?.costNanoUsd ?? 0) > 0);
  });

  for (const prefill of [false, true])
    test(`is the only one that restarts in vain: the third takes a prefill: ${prefill}`, async (t) => {
      const third = await startUpstream(speakChat(prefill ? REST : WHOLE));
      t.after(() => third.close());
      const { gateway } = await start(t, {
        first: breaking(),
        second: speakChat('Something else entirely.'),
        more: THREE(prefill),
        thirdBaseUrl: third.baseUrl,
      });
      const received = await listenInChat(gateway, { model: 'acme/three' });
      assert.equal(received.text, prefill ? WHOLE : STATED);
      assert.equal(third.arrived.length, prefill ? 1 : 0);
      const record = await gateway.app.generations.find(received.generationId);
      const parts = record?.attempts.map(({ part }) => part !== undefined);
      assert.deepEqual(parts, prefill ? [true, false, true] : [false, false]);
    });

  test('is not restarted when it refuses the prefill after another restart was in vain', async (t) => {
    const third = await startUpstream(json(400, { error: { message: 'This model does not support prefill.' } }));
    t.after(() => third.close());
    const { gateway } = await start(t, {
      first: breaking(),
      second: speakChat('Something else entirely.'),
      more: THREE(true),
      thirdBaseUrl: third.baseUrl,
    });
    const received = await listenInChat(gateway, { model: 'acme/three' });
    assert.deepEqual([received.text, third.arrived.length], [STATED, 1]);
  });

  for (const [prefill, prompt, completion] of [
    [true, STATED.length, REST.length],
    [false, 0, WHOLE.length],
  ] as const)
    test(`is estimated by its prompt and its text when it reports nothing: prefill ${prefill}`, async (t) => {
      const { gateway } = await start(t, {
        first: breaking(),
        second: stream(chatBeginning(prefill ? REST : WHOLE) + sse([chatChunk({}, 'stop'), '[DONE]'])),
        prefill,
      });
      const received = await listenInChat(gateway);
      const record = await gateway.app.generations.find(received.generationId);
      const [one, two] = record?.attempts.map(({ part }) => part) ?? [];
      assert.equal(two?.tokensPrompt, (one?.tokensPrompt ?? 0) + Math.ceil(prompt / 4));
      assert.equal(two?.tokensCompletion, Math.ceil(completion / 4));
    });

  test('leaves no trace of its own failure when the first reported its own', async (t) => {
    const { gateway } = await start(t, {
      first: stream(chatBeginning(STATED) + sse([chatChunk({}, 'insufficient_system_resource'), '[DONE]'])),
      second: json(500, { error: { message: 'internal' } }),
    });
    const kept: unknown[] = [];
    for (const header of ['enabled', 'disabled']) {
      const { generationId } = await listenInChat(gateway, {}, { 'x-service-rescue': header });
      const record = await gateway.app.generations.find(generationId);
      kept.push([record?.status, record?.errorType, record?.nativeFinishReason, record?.costNanoUsd]);
    }
    assert.deepEqual(kept[0], kept[1]);
  });

  test('is not charged when no endpoint could continue, nor is the first', async (t) => {
    const { gateway } = await start(t, {
      first: breaking(),
      second: breakingOff(chatBeginning(`${STATED}and it stands `), 'early end', 'chat'),
    });
    const received = await listenInChat(gateway);
    assert.equal(received.text, `${STATED}and it stands `);
    assert.match(String(received.error), /connection to the provider broke/);
    const record = await gateway.app.generations.find(received.generationId);
    assert.deepEqual([record?.costNanoUsd, record?.providerName], [0, 'First']);
  });

  test('continues structured output only when it begins with all of it', async (t) => {
    const stated = '{"name": "Ada", "born": ';
    const rest = '1815}';
    const { gateway, second } = await start(t, {
      first: breakingOff(chatBeginning(stated), 'cut', 'chat'),
      second: speakChat(stated + rest),
    });
    const input = { response_format: { type: 'json_object' } };
    assert.equal((await listenInChat(gateway, input)).text, stated + rest);
    const long = `{"words": "${'one two three four five six seven eight nine ten '.repeat(3)}eleven", "more": `;
    const { first } = { first: breakingOff(chatBeginning(long), 'cut', 'chat') };
    const other = await start(t, { first, second: speakChat(`{"other": 1, ${long.slice(1)}2}`) });
    assert.ok((await listenInChat(other.gateway, input)).error instanceof Error);
    assert.ok((await listenInChat(other.gateway)).error === undefined, 'a plain text is joined there');
    assert.equal(second.arrived.length, 1);
  });

  for (const [caller, listen] of CALLERS)
    test(`loses its reasoning, and the caller keeps the reasoning of the first: ${caller} caller`, async (t) => {
      const thought = (text: string): object => chatChunk({ reasoning_content: text });
      const { gateway } = await start(t, {
        first: breakingOff(
          sse([chatChunk({ role: 'assistant' }), thought('Hm. ')]) + chatBeginning(STATED),
          'cut',
          'chat',
        ),
        second: stream(sse([thought('Let me see. ')]) + chatBeginning(WHOLE) + sse([chatChunk({}, 'stop'), '[DONE]'])),
      });
      const received = await listen(gateway);
      assert.deepEqual([received.text, received.error], [WHOLE, undefined]);
      const record = await gateway.app.generations.find(received.generationId);
      assert.deepEqual(
        record?.warnings.map(({ code }) => code),
        ['answer-rescued', 'content-dropped'],
      );
    });

  for (const [caller, listen] of CALLERS)
    test(`writes the text when the first only reasoned before it broke off: ${caller} caller`, async (t) => {
      const { gateway } = await start(t, {
        first: breakingOff(sse([chatChunk({ role: 'assistant', reasoning_content: 'Hm. ' })]), 'cut', 'chat'),
        second: speakChat(WHOLE),
        prefill: true,
      });
      const received = await listen(gateway);
      assert.deepEqual([received.text, received.error], [WHOLE, undefined]);
    });

  test('does not continue signed reasoning', async (t) => {
    const signed = sse(
      [
        { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'abc' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: STATED } },
      ],
      { named: true },
    );
    const opening = messagesStream('').split('event: content_block_start')[0] ?? '';
    const { gateway, second } = await start(t, {
      first: breakingOff(opening + signed, 'cut', 'messages'),
      second: speakMessages(WHOLE),
      formats: ['messages', 'messages'],
    });
    assert.ok((await listenInMessages(gateway)).error instanceof Error);
    assert.equal(second.arrived.length, 0);
  });

  for (const path of ['/chat/completions', '/messages'])
    // @spec fallback-25
    test(`is not called when the caller hung up: ${path}`, async (t) => {
      const dropped = Promise.withResolvers<void>();
      const { gateway, second } = await start(t, {
        first: (arrived, response, request) => {
          response.on('close', () => dropped.resolve());
          return breakingOff(chatBeginning(STATED), 'silence', 'chat')(arrived, response, request);
        },
        second: speakChat(WHOLE),
      });
      const abort = new AbortController();
      const body = { model: 'acme/both', messages, stream: true, max_tokens: 500 };
      const response = await gateway.post(path, body, RESCUE, abort.signal);
      await response.body?.getReader().read();
      abort.abort();
      await dropped.promise;
      await gateway.close();
      assert.equal(second.arrived.length, 0);
    });

  for (const path of ['/chat/completions', '/messages'])
    test(`is aborted when the caller hangs up meanwhile; the charge is what came, and the prompt of a provider that bills on: ${path}`, async (t) => {
      const dropped = Promise.withResolvers<void>();
      const reached = Promise.withResolvers<void>();
      const { gateway } = await start(t, {
        first: breaking(),
        second: (_arrived, response) => {
          response.on('close', () => dropped.resolve());
          reached.resolve();
        },
      });
      const abort = new AbortController();
      const body = { model: 'acme/both', messages, stream: true, max_tokens: 500 };
      const response = await gateway.post(path, body, RESCUE, abort.signal);
      const reading = response.text().catch(() => undefined);
      await reached.promise;
      abort.abort();
      await dropped.promise;
      await reading;
      const id = response.headers.get('x-generation-id') ?? '';
      let record = await gateway.app.generations.find(id);
      for (let tries = 0; record === undefined && tries < 100; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        record = await gateway.app.generations.find(id);
      }
      assert.deepEqual([record?.status, record?.cancelled], [499, true]);
      assert.equal(record?.tokensCompletion, Math.ceil(STATED.length / 4));
      const prompt = (record?.tokensPrompt ?? 0) / 2;
      assert.deepEqual(record?.attempts[1]?.part, {
        tokensPrompt: prompt,
        tokensCompletion: 0,
        costNanoUsd: prompt * 3_000,
      });
      assert.equal(record.costNanoUsd, prompt * (1_000 + 3_000) + record.tokensCompletion * 2_000);
    });

  test('is counted, and the break is reported to the health of its endpoint', async (t) => {
    const { gateway, first } = await start(t, { first: breaking(), second: speakChat(WHOLE) });
    for (let times = 0; times < 3; times++) await listenInChat(gateway);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    assert.match(metrics, /gateway_rescues_total\{outcome="restart"\} \d/);
    const before = first.arrived.length;
    await listenInChat(gateway);
    assert.equal(first.arrived.length, before, 'its circuit is open');
  });
});

const STREAMS = { chat: chatStream, messages: messagesStream };

for (const format of FORMATS)
  for (const [caller, listen] of CALLERS)
    // @spec fallback-28
    test(`delivers all of a response in ${format} once to the ${caller} caller, wherever it breaks off`, async (t) => {
      // The first word is just long enough to recognize that a host repeats it: with a shorter one, no rule can.
      const text = `Certainly: ${STATED}– “${REST}” 🌉`;
      const bytes = Buffer.from(STREAMS[format](text));
      let cutAt = 0;
      let calls = 0;
      // The first endpoint breaks off, whichever it is, so that their order by health does not matter.
      const script: Script = (_arrived, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        if (calls++ > 0) response.end(bytes);
        else response.end(bytes.subarray(0, cutAt));
      };
      const { gateway } = await start(t, {
        first: script,
        second: script,
        formats: [format, format],
        model: format === 'chat' ? 'one-2026' : 'claude-sonnet-4-6',
      });
      for (cutAt = 1; cutAt < bytes.length; cutAt += 53) {
        calls = 0;
        const received = await listen(gateway);
        assert.deepEqual([received.text, received.error], [text, undefined], `cut at ${cutAt}`);
      }
    });
