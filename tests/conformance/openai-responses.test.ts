import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, generateText, isStepCount, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type {
  FunctionTool,
  Response,
  ResponseInputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import { z } from 'zod';
import { CHAT_ONLY, MESSAGES_ONLY, MESSAGES_VENDOR, OWN, startBothFormats } from '../support/both-formats.ts';
import { PNG_DATA_URL, PNG_MENTION } from '../support/files/media.ts';
import { API_KEY, startGateway, type RunningGateway } from '../support/gateway.ts';
import { startAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { speak } from '../support/upstreams/speak.ts';

const gateway = await startBothFormats();
after(() => gateway.close());

const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY, maxRetries: 0 });
const TEXT = 'The quick brown fox: "jumps"\nover  13 lazy dogs, naïve café 🦊.';

const answerSchema = z.object({
  title: z.string(),
  count: z.number().int(),
  tags: z.array(z.enum(['red', 'green'])),
  nested: z.object({ deep: z.boolean() }),
});

function functionTool(name: string, member: string): FunctionTool {
  const parameters = {
    type: 'object',
    properties: { [member]: { type: 'string' } },
    required: [member],
    additionalProperties: false,
  };
  return { type: 'function', name, parameters, strict: true };
}

const TOOLS = [functionTool('get_weather', 'city'), functionTool('get_time', 'zone')];

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** The items of a response and a result for each of its calls, as a client sends them back. */
function resultsOf({ output }: Response): ResponseInputItem[] {
  const calls = output.filter((item) => item.type === 'function_call');
  const results = calls.map(({ call_id, name }): ResponseInputItem => {
    return { type: 'function_call_output', call_id, output: name === 'get_time' ? 'noon' : '7 degrees' };
  });
  return [...(output as ResponseInputItem[]), ...results];
}

for (const from of [OWN, CHAT_ONLY, MESSAGES_ONLY, MESSAGES_VENDOR])
  suite(`responses of the openai client, ${from}`, () => {
    test('have text, status, id and usage from create', async () => {
      const { data, response } = await client.responses
        .create({ model: `${from}/echo`, instructions: 'Be brief.', input: TEXT })
        .withResponse();
      assert.equal(data.output_text, TEXT);
      assert.deepEqual(
        [data.object, data.status, data.error, data.incomplete_details],
        ['response', 'completed', null, null],
      );
      assert.equal(
        data.id,
        `resp_${(response.headers.get('x-generation-id') ?? '').replaceAll('-', '').slice('gen'.length)}`,
      );
      assert.equal(data.instructions, 'Be brief.');
      const { usage } = data;
      assert.ok(usage !== undefined && usage.input_tokens > 0 && usage.output_tokens > 0);
      assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
    });

    test('are the same as events, and as what the stream helper makes of them', async () => {
      const helper = client.responses.stream({
        model: `${from}/reasoning`,
        input: TEXT,
        reasoning: { effort: 'low', summary: 'auto' },
      });
      const events: ResponseStreamEvent[] = [];
      let snapshot = '';
      helper.on('event', (event) => void events.push(event));
      helper.on('response.output_text.delta', (event) => (snapshot = event.snapshot));
      const final = await helper.finalResponse();
      assert.equal(final.output_text, TEXT);
      assert.equal(snapshot, TEXT);
      assert.deepEqual(
        final.output.map(({ type }) => type),
        ['reasoning', 'message'],
      );
      assert.equal(events.at(-1)?.type, 'response.completed');
      const deltas = events.filter(({ type }) => type === 'response.reasoning_summary_text.delta');
      assert.ok(deltas.length > 0, 'the summary that was requested is streamed');
    });

    for (const stream of [false, true])
      test(`call two tools, and go on from the results, by items and by the id of the response before, stream: ${stream}`, async () => {
        const ask = async (body: object): Promise<Response> => {
          const all = { model: `${from}/tools`, tools: TOOLS, ...body };
          return stream
            ? client.responses.stream(all).finalResponse()
            : client.responses.create({ ...all, stream: false });
        };
        const question = { role: 'user', content: 'Weather and time in parallel, please' } as const;
        const first = await ask({ input: [question] });
        const calls = first.output.filter((item) => item.type === 'function_call');
        assert.deepEqual(
          calls.map(({ name, arguments: input }) => [name, Object.keys(JSON.parse(input) as object)]),
          [
            ['get_weather', ['city']],
            ['get_time', ['zone']],
          ],
        );
        const said = 'tool get_weather said: 7 degrees\ntool get_time said: noon';
        const whole = await ask({ input: [question, ...resultsOf(first)], store: false });
        assert.equal(whole.output_text, said);
        const results = resultsOf(first).filter(({ type }) => type === 'function_call_output');
        const chained = await ask({ input: results, previous_response_id: first.id });
        assert.equal(chained.output_text, said);
        assert.equal(chained.previous_response_id, first.id);
      });

    test('are parsed by a schema', async () => {
      const { output_parsed: parsed } = await client.responses.parse({
        model: `${from}/json`,
        input: 'Make one up',
        text: { format: zodTextFormat(answerSchema, 'made_up') },
      });
      answerSchema.parse(parsed);
    });

    test('read pictures', async () => {
      const { output_text: text } = await client.responses.create({
        model: `${from}/echo`,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_image', image_url: PNG_DATA_URL, detail: 'auto' },
              { type: 'input_text', text: 'What is this?' },
            ],
          },
        ],
      });
      assert.equal(text, `${PNG_MENTION}\nWhat is this?`);
    });

    test('are incomplete at a limit of tokens', async () => {
      const cut = await client.responses.create({
        model: `${from}/echo`,
        input: 'one two three four five',
        max_output_tokens: 3,
      });
      assert.deepEqual([cut.status, cut.incomplete_details], ['incomplete', { reason: 'max_output_tokens' }]);
      assert.equal(cut.usage?.output_tokens, 3);
    });

    test('fail with the status of the error, or in a stream that has begun as its end', async () => {
      for (const [upstream, status] of [
        [400, 400],
        [429, 429],
        [500, 502],
      ] as const)
        await assert.rejects(
          client.responses.create({ model: `${from}/error-${upstream}`, input: 'hi' }),
          (error: unknown) => {
            assert.ok(error instanceof OpenAI.APIError);
            assert.equal(error.status, status);
            return true;
          },
        );
      const broken = await client.responses.create({
        model: `${from}/cut`,
        input: 'alpha beta gamma delta after=2',
        stream: true,
      });
      const events = await collect(broken);
      const last = events.at(-1);
      assert.ok(last?.type === 'response.failed');
      assert.equal(last.response.error?.code, 'server_error');
      assert.match(last.response.output_text ?? JSON.stringify(last.response.output), /alpha/);
    });
  });

suite('kept responses of the openai client', () => {
  // @spec responses-86, responses-87, responses-90, responses-93
  test('are retrieved, listed by their input, streamed again and deleted', async () => {
    const made = await client.responses.create({ model: 'sandbox/echo', input: TEXT });
    const got = await client.responses.retrieve(made.id);
    assert.deepEqual(got.output, made.output);
    const items = await collect(client.responses.inputItems.list(made.id));
    assert.deepEqual(
      items.map((item) => item.type),
      ['message'],
    );
    const again = await collect(await client.responses.retrieve(made.id, { stream: true }));
    assert.equal(again.at(-1)?.type, 'response.completed');
    await client.responses.delete(made.id);
    await assert.rejects(client.responses.retrieve(made.id), (error: unknown) => {
      return error instanceof OpenAI.NotFoundError;
    });
  });
});

suite('background responses of the openai client', () => {
  let own: RunningGateway;
  let ownClient: OpenAI;
  before(async () => {
    own = await startGateway({ yaml: 'responses: { store: database, background: true }' });
    ownClient = new OpenAI({ baseURL: own.baseUrl, apiKey: API_KEY, maxRetries: 0 });
  });
  after(() => own.close());
  const LONG = { model: 'sandbox/long', input: 'tokens=40 every=20', background: true } as const;

  // @spec responses-114
  test('are created at once, and retrieved until they have ended', async () => {
    const created = await ownClient.responses.create(LONG);
    assert.equal(created.status, 'queued');
    let response = created;
    while (response.status === 'queued' || response.status === 'in_progress') {
      await wait(50);
      response = await ownClient.responses.retrieve(created.id);
    }
    assert.equal(response.status, 'completed');
    assert.match(response.output_text, /^1 2 3 /);
    const again = await ownClient.responses.create({
      model: 'sandbox/echo',
      input: 'x',
      previous_response_id: response.id,
    });
    assert.equal(again.output_text, 'x');
  });

  // @spec responses-116, responses-117
  test('are streamed, and from any event on when the connection was lost', async () => {
    const events: ResponseStreamEvent[] = [];
    const first = await ownClient.responses.create({ ...LONG, stream: true });
    let id = '';
    for await (const event of first) {
      events.push(event);
      if (event.type === 'response.created') ({ id } = event.response);
      if (events.length === 8) break;
    }
    const { sequence_number: last } = events.at(-1) ?? assert.fail();
    const rest = await ownClient.responses.retrieve(id, { stream: true, starting_after: last });
    events.push(...(await collect(rest)));
    assert.deepEqual(
      events.map((event) => event.sequence_number),
      events.map((_event, at) => at),
    );
    const end = events.at(-1);
    assert.ok(end?.type === 'response.completed');
    const deltas = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : ''));
    assert.equal(deltas.join(''), (await ownClient.responses.retrieve(id)).output_text);
    const helper = ownClient.responses.stream({ response_id: id, starting_after: last });
    assert.equal((await helper.finalResponse()).output_text, deltas.join(''));
  });

  // @spec responses-118
  test('are cancelled with what they have', async () => {
    const created = await ownClient.responses.create({ ...LONG, input: 'tokens=2000 every=50' });
    while ((await ownClient.responses.retrieve(created.id)).output_text === '') await wait(50);
    const cancelled = await ownClient.responses.cancel(created.id);
    assert.deepEqual([cancelled.status, cancelled.error], ['cancelled', null]);
    const [kept] = await collect(ownClient.responses.inputItems.list(created.id));
    assert.equal(kept?.type, 'message');
    await ownClient.responses.delete(created.id);
    await assert.rejects(ownClient.responses.retrieve(created.id), OpenAI.NotFoundError);
  });
});

suite('the AI SDK in its default configuration', () => {
  const getWeather = tool({
    description: 'The weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: () => ({ degrees: 7 }),
  });
  const parts = [
    [
      { type: 'thought', text: 'I look it up.', seal: 'c2VhbA==' },
      { type: 'call', id: 'call_1', name: 'get_weather', input: '{"city":"Oslo"}', signature: 'c2lnbg==' },
    ],
    [{ type: 'text', text: 'It is cold.' }],
  ] as const;

  for (const served of ['chat', 'claude', 'gemini', 'responses'] as const)
    for (const streaming of [false, true])
      // @spec responses-94, responses-pains-38
      test(`sends references to what was kept, and the model gets it all back: ${served}, stream: ${streaming}`, async (t) => {
        const { gateway: own, upstream } = await startAllUpstreams(t);
        upstream.script = (arrived, response, request) =>
          speak({ parts: parts[upstream.arrived.length === 1 ? 0 : 1] })(arrived, response, request);
        const provider = createOpenAI({ baseURL: own.baseUrl, apiKey: API_KEY });
        const options = {
          model: provider(`acme/${served}`),
          maxRetries: 0,
          tools: { get_weather: getWeather },
          stopWhen: isStepCount(3),
          prompt: 'Weather in Oslo?',
          providerOptions: { openai: { forceReasoning: true, reasoningSummary: 'auto' } },
        };
        const result = streaming ? streamText(options) : await generateText(options);
        assert.equal(await result.text, 'It is cold.');
        const [, second] = upstream.arrived;
        for (const text of ['I look it up.', 'call_1', '"degrees', ...(served === 'chat' ? [] : ['c2VhbA=='])])
          assert.ok(second?.text.includes(text), `${text}: ${second?.text}`);
      });

  // @spec responses-pains-38
  test('gets the advice to send whole items where nothing is kept', async (t) => {
    const own = await startGateway({ yaml: 'responses: { store: off }' });
    t.after(() => own.close());
    const provider = createOpenAI({ baseURL: own.baseUrl, apiKey: API_KEY });
    const model = provider('sandbox/reasoning');
    const providerOptions = { openai: { forceReasoning: true, reasoningSummary: 'auto' } };
    const first = await generateText({ model, maxRetries: 0, providerOptions, prompt: 'Think' });
    const messages = [
      { role: 'user' as const, content: 'Think' },
      ...first.finalStep.response.messages,
      { role: 'user' as const, content: 'Go on' },
    ];
    await assert.rejects(generateText({ model, maxRetries: 0, providerOptions, messages }), (error: unknown) => {
      assert.ok(APICallError.isInstance(error));
      assert.equal(error.statusCode, 400);
      assert.match(error.message, /store: false|"store": false/);
      return true;
    });
    const stateless = { openai: { ...providerOptions.openai, store: false } };
    const whole = await generateText({ model, maxRetries: 0, providerOptions: stateless, prompt: 'Think' });
    assert.equal(whole.text, 'Think');
  });
});
