import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, isStepCount, Output, streamText, tool, type LanguageModel } from 'ai';
import { z } from 'zod';
import { CHAT_ONLY, MESSAGES_ONLY, MESSAGES_VENDOR, OWN, startBothFormats } from '../support/both-formats.ts';
import { API_KEY } from '../support/gateway.ts';
import { PNG_BASE64, PNG_MENTION } from '../support/files/media.ts';

const gateway = await startBothFormats();
after(() => gateway.close());

const TEXT = 'The quick brown fox: "jumps"\nover  13 lazy dogs, naïve café 🦊.';
const NOTHING_MORE = { maxRetries: 0 } as const;

const answerSchema = z.object({
  title: z.string(),
  count: z.number().int(),
  tags: z.array(z.enum(['red', 'green'])),
  nested: z.object({ deep: z.boolean() }),
});

function createTools() {
  const ran: string[] = [];
  const tools = {
    get_weather: tool({
      description: 'The weather of a city',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => {
        ran.push(`weather ${typeof city}`);
        return { degrees: 7 };
      },
    }),
    get_time: tool({
      description: 'The time of a zone',
      inputSchema: z.object({ zone: z.string() }),
      execute: ({ zone }) => {
        ran.push(`time ${typeof zone}`);
        return 'noon';
      },
    }),
  };
  return { ran, tools };
}

const chat = createOpenAICompatible({
  name: 'gateway',
  baseURL: gateway.baseUrl,
  apiKey: API_KEY,
  includeUsage: true,
  supportsStructuredOutputs: true,
});
/** The responses format. Of models that it does not know this client assumes that they do not reason. */
const responses = createOpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY });
const messages = createAnthropic({ baseURL: gateway.baseUrl, apiKey: API_KEY });
const bearer = createAnthropic({ baseURL: gateway.baseUrl, authToken: API_KEY });

interface Client {
  readonly name: string;
  readonly model: (name: string) => LanguageModel;
  readonly maxOutputTokens: number;
  /** What makes it request reasoning, and show it. */
  readonly providerOptions?: {
    readonly openai: { readonly forceReasoning: boolean; readonly reasoningSummary: string };
  };
  /** The id of a response, from that of its generation. */
  readonly idOf?: (generation: string) => string;
}

const clients: readonly Client[] = [
  ...[OWN, CHAT_ONLY, MESSAGES_VENDOR].map((from) => ({
    name: `@ai-sdk/openai-compatible, ${from}`,
    model: (name: string) => chat(`${from}/${name}`),
    maxOutputTokens: 4_000,
  })),
  ...[OWN, CHAT_ONLY, MESSAGES_VENDOR].map((from) => ({
    name: `@ai-sdk/openai, ${from}`,
    model: (name: string) => responses(`${from}/${name}`),
    maxOutputTokens: 4_000,
    providerOptions: { openai: { forceReasoning: true, reasoningSummary: 'auto' } },
    idOf: (generation: string) => `resp_${generation.replaceAll('-', '').slice('gen'.length)}`,
  })),
  ...[OWN, MESSAGES_ONLY, CHAT_ONLY].map((from) => ({
    name: `@ai-sdk/anthropic, ${from}`,
    model: (name: string) => messages(`${from}/${name}`),
    maxOutputTokens: 4_000,
  })),
];

for (const { name, model, maxOutputTokens, providerOptions, idOf = String } of clients)
  suite(name, () => {
    const common = { ...NOTHING_MORE, maxOutputTokens };

    test('returns text, finish reason, usage and id from generateText', async () => {
      const result = await generateText({ ...common, model: model('echo'), instructions: 'Be brief.', prompt: TEXT });
      assert.equal(result.text, TEXT);
      assert.equal(result.finishReason, 'stop');
      assert.ok((result.usage.inputTokens ?? 0) > 0 && (result.usage.outputTokens ?? 0) > 0);
      const { id, headers } = result.finalStep.response;
      assert.equal(id, idOf(headers?.['x-generation-id'] ?? ''));
    });

    test('returns the same in pieces from streamText', async () => {
      const result = streamText({ ...common, model: model('echo'), prompt: TEXT });
      const deltas: string[] = [];
      for await (const delta of result.textStream) deltas.push(delta);
      assert.equal(deltas.join(''), TEXT);
      assert.ok(deltas.length > 5, 'it is streamed');
      assert.equal(await result.finishReason, 'stop');
      const usage = await result.usage;
      assert.ok((usage.inputTokens ?? 0) > 0 && (usage.outputTokens ?? 0) > 0);
    });

    test('reports a token limit as length', async () => {
      const prompt = 'one two three four five six';
      const result = await generateText({ ...common, model: model('echo'), prompt, maxOutputTokens: 3 });
      assert.equal(result.finishReason, 'length');
      assert.equal(result.usage.outputTokens, 3);
    });

    for (const streaming of [false, true])
      test(`calls and runs two tools in parallel and gets the response in a second step, stream: ${streaming}`, async () => {
        const { ran, tools } = createTools();
        const options = {
          ...common,
          model: model('tools'),
          tools,
          stopWhen: isStepCount(5),
          prompt: 'Weather and time in parallel, please',
        };
        const result = streaming ? streamText(options) : await generateText(options);
        const text = await result.text;
        assert.deepEqual(ran.toSorted(), ['time string', 'weather string']);
        assert.match(text, /^tool get_weather said: .*"degrees":7.*\ntool get_time said: "?noon"?$/);
        assert.equal((await result.steps).length, 2);
        assert.equal((await result.steps)[0]?.finishReason, 'tool-calls');
        assert.equal(await result.finishReason, 'stop');
      });

    test('returns an object that fits the schema from Output.object, streamed and not', async () => {
      const output = Output.object({ schema: answerSchema });
      const whole = await generateText({ ...common, model: model('json'), output, prompt: 'Make one up' });
      answerSchema.parse(whole.output);
      const streamed = streamText({ ...common, model: model('json'), output, prompt: 'Make one up' });
      let last: unknown;
      for await (const partial of streamed.partialOutputStream) last = partial;
      assert.deepEqual(last, whole.output);
    });

    test('sends an image as an image', async () => {
      const { text } = await generateText({
        ...common,
        model: model('echo'),
        messages: [
          {
            role: 'user',
            content: [
              { type: 'file', data: Buffer.from(PNG_BASE64, 'base64'), mediaType: 'image/png' },
              { type: 'text', text: 'What is this?' },
            ],
          },
        ],
      });
      assert.equal(text, `${PNG_MENTION}\nWhat is this?`);
    });

    for (const streaming of [false, true])
      test(`separates reasoning from the text and sends it back with the next turn, stream: ${streaming}`, async () => {
        const options = {
          ...common,
          model: model('reasoning'),
          reasoning: 'low' as const,
          ...(providerOptions !== undefined && { providerOptions }),
        };
        const first = streaming
          ? streamText({ ...options, prompt: 'Think' })
          : await generateText({ ...options, prompt: 'Think' });
        assert.equal(await first.text, 'Think');
        const final = await first.finalStep;
        assert.match(final.reasoningText ?? '', /so I answer/);
        const next = await generateText({
          ...options,
          messages: [
            { role: 'user', content: 'Think' },
            ...(await first.responseMessages),
            { role: 'user', content: 'Go on' },
          ],
        });
        assert.equal(next.text, 'Go on');
      });

    test('keeps the status of errors, and whether a retry may help', async () => {
      for (const [status, reported, retryable] of [
        [400, 400, false],
        [422, 422, false],
        [500, 502, true],
        [429, 429, true],
      ] as const)
        await assert.rejects(
          generateText({ ...common, model: model(`error-${status}`), prompt: 'hi' }),
          (error: unknown) => {
            assert.ok(APICallError.isInstance(error), String(error));
            assert.equal(error.statusCode, reported);
            assert.equal(error.isRetryable, retryable);
            assert.ok(error.message.length > 10);
            return true;
          },
        );
    });

    test('returns the text of a stream that breaks off and then an error, never a finish', async () => {
      const errors: unknown[] = [];
      const result = streamText({
        ...common,
        model: model('cut'),
        prompt: 'alpha beta gamma delta epsilon zeta after=3',
        onError: ({ error }) => void errors.push(error),
      });
      const kinds: string[] = [];
      let text = '';
      for await (const part of result.stream) {
        kinds.push(part.type);
        if (part.type === 'text-delta') text += part.text;
      }
      assert.match(text, /^alpha/);
      assert.ok(kinds.includes('error'));
      assert.equal(errors.length, 1);
    });

    test('ends the stream on abort, and the next request is served', async () => {
      const controller = new AbortController();
      const result = streamText({
        ...common,
        model: model('long'),
        prompt: 'tokens=2000 every=10',
        abortSignal: controller.signal,
        onError: () => undefined,
      });
      let deltas = 0;
      let aborted = false;
      for await (const part of result.stream) {
        if (part.type === 'abort') aborted = true;
        if (part.type === 'text-delta' && ++deltas === 5) controller.abort();
      }
      assert.ok(aborted && deltas < 200);
      const { text } = await generateText({ ...common, model: model('echo'), prompt: 'next' });
      assert.equal(text, 'next');
    });
  });

test('sends a bearer token from @ai-sdk/anthropic with an auth token', async () => {
  const { text } = await generateText({
    ...NOTHING_MORE,
    model: bearer('sandbox/echo'),
    maxOutputTokens: 50,
    prompt: 'hi',
  });
  assert.equal(text, 'hi');
});

test('keeps signed thinking of the messages format and sends it back with a tool result', async () => {
  const { ran, tools } = createTools();
  const result = await generateText({
    ...NOTHING_MORE,
    model: messages('messages-only/tools'),
    maxOutputTokens: 4_000,
    tools,
    stopWhen: isStepCount(3),
    providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2_000 } } },
    prompt: 'Weather?',
  });
  assert.deepEqual(ran, ['weather string']);
  assert.match(result.text, /tool get_weather said: /);
  assert.ok(result.steps[0]?.reasoning[0]?.type === 'reasoning');
});
