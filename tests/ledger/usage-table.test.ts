import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { startGateway } from '../support/gateway.ts';
import { parsePrometheus } from '../support/http/prometheus.ts';
import { formatStream, formatWhole, formatOfPath, isStreamed, type SpokenFormat } from '../support/upstreams/speak.ts';
import { converseEvents, frameConverse, MESSAGE_HEAD, type Spoken } from '../support/upstreams/spoken.ts';
import { chatAnswer, chatChunk, json, sse, startUpstream, stream, type Script } from '../support/upstream.ts';

const CONTEXT_TOKENS = 32_000;
const OUTPUT_TOKENS = 1_000;
/** @spec money-20 */
const PROMPT_MAX = 2 * CONTEXT_TOKENS;
const COMPLETION_MAX = 2 * OUTPUT_TOKENS + 4_096;

const ADAPTERS = {
  chat: { adapter: 'openai-compatible', model: 'one-2026' },
  messages: { adapter: 'messages-compatible', model: 'one-2026' },
  responses: { adapter: 'openai', model: 'gpt-5.4-pro' },
  gemini: { adapter: 'google', model: 'gemini-3-pro-preview' },
  converse: { adapter: 'bedrock', model: 'us.amazon.nova-2-lite-v1:0' },
  cohere: { adapter: 'cohere', model: 'command-next' },
} as const satisfies Readonly<Record<SpokenFormat, object>>;
const FORMATS = Object.keys(ADAPTERS) as SpokenFormat[];

const upstream = await startUpstream(json(500, {}));
const gateway = await startGateway({ yaml: JSON.stringify(configure()) });
after(async () => {
  await gateway.close();
  await upstream.close();
});

function configure(): JsonObject {
  const endpoint = { price: { prompt: 1, completion: 2 } };
  const limits = { context_length: CONTEXT_TOKENS, max_completion_tokens: OUTPUT_TOKENS };
  return {
    providers: Object.fromEntries(
      FORMATS.map((format) => [
        format,
        {
          adapter: ADAPTERS[format].adapter,
          base_url: `${upstream.baseUrl}/${format}/v1`,
          api_key: 'upstream-secret',
          ...(format === 'converse' && { options: { region: 'us-east-1' } }),
        },
      ]),
    ),
    models: Object.fromEntries(
      FORMATS.flatMap((format) => {
        const { model } = ADAPTERS[format];
        return [
          [`acme/${format}`, { endpoints: [{ provider: format, model, ...endpoint, ...limits }] }],
          [`acme/${format}-unknown`, { endpoints: [{ provider: format, model: 'other-2026', ...endpoint }] }],
        ];
      }),
    ),
  };
}

/** 200 bytes: 50 tokens. */
const TEXT = 'word '.repeat(40);
const ESTIMATED_COMPLETION = 50;
/** Stand for the counts in an answer until a row of the table puts its value there. */
const COUNTS = { prompt: 777_001, completion: 777_002 };
type Count = keyof typeof COUNTS;
/** JSON text; `undefined`: the member is left out. */
type Value = string | undefined;

/** The response of a format with these values in place of its counts, and without a total from which they could be computed. */
function answerWith(values: Readonly<Record<Count, Value>>): Script {
  const spoken: Spoken = { parts: [{ type: 'text', text: TEXT }], usage: COUNTS };
  const put = (text: string): string => {
    let out = text.replaceAll(/"total_?tokens?(?:count)?":\d+,?/gi, '').replaceAll(',}', '}');
    for (const count of ['prompt', 'completion'] as const) {
      const value = values[count];
      const member = new RegExp(`"([^"]+)":${COUNTS[count]}(,?)`, 'g');
      out = out.replaceAll(member, value === undefined ? '' : `"$1":${value}$2`).replaceAll(',}', '}');
    }
    return out;
  };
  return (arrived, response) => {
    const format = formatOfPath(arrived.path);
    const streamed = isStreamed(format, arrived);
    const { type, body } = streamed ? formatStream(format, spoken) : formatWhole(format, spoken);
    response.writeHead(200, { 'content-type': type });
    if (format !== 'converse' || !streamed) response.end(put(body.toString()));
    else response.end(frameConverse(JSON.parse(put(JSON.stringify(converseEvents(spoken)))) as never));
  };
}

interface Charged {
  readonly prompt: number;
  readonly completion: number;
  readonly costNanoUsd: number | null;
  readonly source: string;
  readonly implausible: number;
}

function charge(model: string, isStream: boolean, values: Readonly<Record<Count, Value>>): Promise<Charged> {
  upstream.script = answerWith(values);
  return chargeAsScripted(model, isStream);
}

async function chargeAsScripted(model: string, isStream: boolean): Promise<Charged> {
  const messages = [{ role: 'user', content: 'Say the word forty times.' }];
  const answer = await gateway.post('/chat/completions', {
    model: `acme/${model}`,
    max_tokens: 60,
    stream: isStream,
    messages,
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  await answer.text();
  const record = await gateway.app.generations.find(answer.headers.get('x-generation-id') ?? '');
  assert.ok(record);
  return {
    prompt: record.tokensPrompt,
    completion: record.tokensCompletion,
    costNanoUsd: record.costNanoUsd,
    source: record.usageSource,
    implausible: record.warnings.filter(({ code }) => code === 'usage-implausible').length,
  };
}

const NO_COUNTS: Readonly<Record<string, Value>> = {
  absent: undefined,
  null: 'null',
  zero: '0',
  text: '"12"',
  negative: '-5',
  'an object': '{}',
};
/** One that may be: neither count can be taken for the other. */
const SOUND = { prompt: '20', completion: '7' } as const;

// @spec money-19
suite('the charge without a count of the upstream', () => {
  for (const format of FORMATS)
    for (const streamed of [false, true])
      test(`equals the estimate: ${format}, ${streamed ? 'streamed' : 'not streamed'}`, async () => {
        const none = await charge(format, streamed, { prompt: undefined, completion: undefined });
        const estimated = { prompt: none.prompt, completion: ESTIMATED_COMPLETION };
        assert.ok(none.prompt > 5 && none.prompt < 40, `a prompt of ${none.prompt} tokens`);
        const bounds = { prompt: PROMPT_MAX, completion: COMPLETION_MAX };
        for (const count of ['prompt', 'completion'] as const) {
          const rows: (readonly [string, Value, number | undefined, number])[] = [
            ...Object.entries(NO_COUNTS).map(([name, value]) => [name, value, undefined, 0] as const),
            ['just below the bound', String(bounds[count]), bounds[count], 0],
            ['just above the bound', String(bounds[count] + 1), undefined, 1],
            ['far above it', '50000000', undefined, 1],
            ['huge', '1e30', undefined, 1],
          ];
          for (const [name, value, believed, implausible] of rows) {
            const expected = { prompt: 20, completion: 7, [count]: believed ?? estimated[count] };
            assert.deepEqual(
              await charge(format, streamed, { ...SOUND, [count]: value }),
              {
                ...expected,
                costNanoUsd: expected.prompt * 1_000 + expected.completion * 2_000,
                source: believed === undefined ? 'estimated' : 'upstream',
                implausible,
              },
              `${count} ${name}`,
            );
          }
        }
        const { costNanoUsd, ...counts } = none;
        assert.deepEqual(counts, { ...estimated, source: 'estimated', implausible: 0 });
        assert.equal(costNanoUsd, none.prompt * 1_000 + ESTIMATED_COMPLETION * 2_000);
      });

  // @spec money-21
  test('rests on other bounds where the limits of an endpoint are unknown', async () => {
    for (const [count, bound] of [
      ['prompt', 2 * 2_000_000],
      ['completion', 2 * 262_144 + 4_096],
    ] as const) {
      const below = await charge('chat-unknown', false, { ...SOUND, [count]: String(bound) });
      const above = await charge('chat-unknown', false, { ...SOUND, [count]: String(bound + 1) });
      assert.deepEqual([below[count], below.source, below.implausible], [bound, 'upstream', 0]);
      assert.deepEqual([above[count] < 100, above.source, above.implausible], [true, 'estimated', 1]);
    }
  });

  // @spec money-20
  test('counts replaced usage in a metric', async () => {
    const before = await countImplausible();
    await charge('cohere', true, { prompt: '50000000', completion: '50000000' });
    assert.deepEqual(await countImplausible(), [before[0] + 1, before[1] + 1]);
  });
});

async function countImplausible(): Promise<readonly [number, number]> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const samples = parsePrometheus(text).filter(({ name }) => name === 'gateway_implausible_usage_total');
  const of = (count: Count): number =>
    samples.find(({ labels }) => labels['provider'] === 'cohere' && labels['count'] === count)?.value ?? 0;
  return [of('prompt'), of('completion')];
}

suite('missing counts of a host', () => {
  const chargeFor = (format: SpokenFormat, script: Script, isStream = true): Promise<Charged> => {
    upstream.script = script;
    return chargeAsScripted(format, isStream);
  };

  for (const [name, usage] of Object.entries({
    absent: undefined,
    empty: {},
    'of null': { output_tokens: null },
    'of the input alone': { input_tokens: 10 },
  }))
    test(`do not charge the placeholder of message_start when the usage of message_delta is ${name}`, async () => {
      const events = [
        {
          type: 'message_start',
          message: { ...MESSAGE_HEAD, content: [], usage: { input_tokens: 10, output_tokens: 1 } },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...(usage !== undefined && { usage }) },
        { type: 'message_stop' },
      ];
      const { prompt, completion, source } = await chargeFor('messages', stream(sse(events, { named: true })));
      assert.deepEqual([prompt, completion, source], [10, ESTIMATED_COMPLETION, 'estimated']);
    });

  test('do not replace counts of message_start by zeros of message_delta', async () => {
    const started = { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 };
    const ended = { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 7 };
    const events = [
      { type: 'message_start', message: { ...MESSAGE_HEAD, content: [], usage: started } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: ended },
      { type: 'message_stop' },
    ];
    const { prompt, completion, source } = await chargeFor('messages', stream(sse(events, { named: true })));
    assert.deepEqual([prompt, completion, source], [100, 7, 'upstream']);
  });

  test('take the missing half of billed units from tokens at cohere', async () => {
    for (const [units, cost] of [
      [{ input_tokens: 8 }, 8 * 1_000 + 195 * 2_000],
      [{ output_tokens: 190 }, 10 * 1_000 + 190 * 2_000],
      [{ input_tokens: 0, output_tokens: 0 }, 10 * 1_000 + 195 * 2_000],
      [{ input_tokens: 8, output_tokens: 'many' }, 8 * 1_000 + 195 * 2_000],
    ] as const) {
      const answer = {
        id: 'cohere-1',
        message: { role: 'assistant', content: [{ type: 'text', text: TEXT }] },
        finish_reason: 'COMPLETE',
        usage: { tokens: { input_tokens: 10, output_tokens: 195 }, billed_units: units },
      };
      const { prompt, completion, costNanoUsd, source } = await chargeFor('cohere', json(200, answer), false);
      assert.deepEqual([prompt, completion, costNanoUsd, source], [10, 195, cost, 'estimated'], JSON.stringify(units));
    }
  });

  test('use the usage of x_groq only when there is no other', async () => {
    const groq = { x_groq: { id: 'req_1', usage: { prompt_tokens: 5_003, completion_tokens: 359 } } };
    const stated = [chatChunk({ role: 'assistant', content: TEXT }), { ...chatChunk({}, 'stop'), ...groq }];
    const alone = await chargeFor('chat', stream(sse([...stated, '[DONE]'])));
    assert.deepEqual([alone.prompt, alone.completion, alone.source], [5_003, 359, 'upstream']);
    const usage = { prompt_tokens: 20, completion_tokens: 7 };
    for (const both of [
      [...stated, { ...chatChunk({}), choices: [], usage }],
      [stated[0], { ...chatChunk({}), choices: [], usage }, stated[1]],
    ]) {
      const { prompt, completion } = await chargeFor('chat', stream(sse([...(both as object[]), '[DONE]'])));
      assert.deepEqual([prompt, completion], [20, 7]);
    }
    const { prompt, completion } = await chargeFor(
      'chat',
      json(200, { ...chatAnswer(TEXT, { usage: null }), ...groq }),
      false,
    );
    assert.deepEqual([prompt, completion], [5_003, 359]);
  });

  // @spec money-20
  test('drop the cached part of an implausible prompt, and never let a part exceed its total', async () => {
    const usage = {
      prompt_tokens: 50_000_000,
      completion_tokens: 50_000_000,
      prompt_tokens_details: { cached_tokens: 40_000_000 },
      completion_tokens_details: { reasoning_tokens: 30_000_000 },
    };
    upstream.script = json(200, chatAnswer(TEXT, { usage }));
    const messages = [{ role: 'user', content: 'hi' }];
    const answer = await gateway.post('/chat/completions', { model: 'acme/chat', max_tokens: 60, messages });
    const reported = ((await answer.json()) as { usage: JsonObject }).usage;
    assert.deepEqual(
      [reported['completion_tokens'], reported['prompt_tokens_details'], reported['completion_tokens_details']],
      [ESTIMATED_COMPLETION, { cached_tokens: 0 }, { reasoning_tokens: ESTIMATED_COMPLETION }],
    );
  });
});
