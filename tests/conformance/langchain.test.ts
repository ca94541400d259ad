import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import {
  type AIMessage,
  type AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type UsageMetadata,
} from '@langchain/core/messages';
import { tool, type StructuredToolInterface } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import { CHAT_ONLY, MESSAGES_ONLY, MESSAGES_VENDOR, OWN, startBothFormats } from '../support/both-formats.ts';
import { API_KEY } from '../support/gateway.ts';
import { PNG_DATA_URL, PNG_MENTION } from '../support/files/media.ts';

const gateway = await startBothFormats();
after(() => gateway.close());

const TEXT = 'The quick brown fox: "jumps"\nover  13 lazy dogs, naïve café 🦊.';
const answerSchema = z.object({ title: z.string(), count: z.number().int(), tags: z.array(z.enum(['red', 'green'])) });

const getWeather = tool(({ city }) => `7 degrees (${typeof city})`, {
  name: 'get_weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
});
const getTime = tool(({ zone }) => `noon (${typeof zone})`, {
  name: 'get_time',
  description: 'The time of a zone',
  schema: z.object({ zone: z.string() }),
});

function chatModel(model: string, useResponsesApi = false): ChatOpenAI {
  return new ChatOpenAI({
    model,
    apiKey: API_KEY,
    maxRetries: 0,
    streamUsage: true,
    useResponsesApi,
    configuration: { baseURL: gateway.baseUrl },
  });
}

function messagesModel(model: string): ChatAnthropic {
  return new ChatAnthropic({ model, apiKey: API_KEY, maxRetries: 0, maxTokens: 500, anthropicApiUrl: gateway.url });
}

interface Client {
  readonly name: string;
  /**
   * This client takes a stream's input tokens from `message_start` only, where they are 0 when the upstream counts at
   * its end (@spec stream-26).
   */
  readonly missesInput?: true;
  /** This client passes over `response.failed`: it takes the text so far for all of it. */
  readonly missesFailure?: true;
  readonly model: (name: string) => BaseChatModel;
}

const clients: readonly Client[] = [
  ...[OWN, CHAT_ONLY, MESSAGES_VENDOR].map((from) => ({
    name: `@langchain/openai, ${from}`,
    model: (name: string) => chatModel(`${from}/${name}`),
  })),
  ...[OWN, CHAT_ONLY, MESSAGES_VENDOR].map((from) => ({
    name: `@langchain/openai with useResponsesApi, ${from}`,
    missesFailure: true as const,
    model: (name: string) => chatModel(`${from}/${name}`, true),
  })),
  ...[OWN, MESSAGES_ONLY, CHAT_ONLY].map((from) => ({
    name: `@langchain/anthropic, ${from}`,
    ...(from === CHAT_ONLY && { missesInput: true as const }),
    model: (name: string) => messagesModel(`${from}/${name}`),
  })),
];

for (const { name, model, missesInput, missesFailure } of clients)
  suite(name, () => {
    test('returns text and usage from invoke', async () => {
      const answer = await model('echo').invoke([new SystemMessage('Be brief.'), new HumanMessage(TEXT)]);
      assert.equal(answer.text, TEXT);
      checkUsage(answer);
    });

    test('concatenates a stream to the complete response with its usage', async () => {
      let whole: AIMessageChunk | undefined;
      let chunks = 0;
      for await (const chunk of await model('echo').stream(TEXT)) {
        whole = whole === undefined ? chunk : whole.concat(chunk);
        chunks++;
      }
      assert.equal(whole?.text, TEXT);
      assert.ok(chunks > 5, 'it is streamed');
      checkUsage(whole, missesInput === true);
    });

    for (const streaming of [false, true])
      test(`reads and runs parallel tool calls and gets the response, stream: ${streaming}`, async () => {
        const bound = model('tools').bindTools?.([getWeather, getTime]);
        assert.ok(bound !== undefined);
        const ask = async (messages: (HumanMessage | AIMessage | ToolMessage)[]): Promise<AIMessage> => {
          if (!streaming) return bound.invoke(messages);
          let whole: AIMessageChunk | undefined;
          for await (const chunk of await bound.stream(messages))
            whole = whole === undefined ? chunk : whole.concat(chunk);
          assert.ok(whole !== undefined);
          return whole;
        };
        const question = new HumanMessage('Weather and time in parallel, please');
        const first = await ask([question]);
        assert.deepEqual(
          first.tool_calls?.map((call) => [call.name, Object.keys(call.args)]),
          [
            ['get_weather', ['city']],
            ['get_time', ['zone']],
          ],
        );
        const results = await Promise.all(
          (first.tool_calls ?? []).map(async (call): Promise<ToolMessage> => {
            const chosen: StructuredToolInterface = call.name === 'get_weather' ? getWeather : getTime;
            const result: unknown = await chosen.invoke({
              ...call,
              type: 'tool_call',
            });
            assert.ok(result instanceof ToolMessage);
            return result;
          }),
        );
        const second = await ask([question, first, ...results]);
        assert.equal(second.text, 'tool get_weather said: 7 degrees (string)\ntool get_time said: noon (string)');
        assert.equal(second.tool_calls?.length ?? 0, 0);
      });

    test('returns an object that fits the schema from withStructuredOutput', async () => {
      answerSchema.parse(
        await model('json').withStructuredOutput(answerSchema, { name: 'answer' }).invoke('Make one up'),
      );
      answerSchema.parse(
        await model('tools')
          .withStructuredOutput(answerSchema, { name: 'answer', method: 'functionCalling' })
          .invoke('Make one up'),
      );
    });

    test('sends an image as an image', async () => {
      const answer = await model('echo').invoke([
        new HumanMessage({
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: PNG_DATA_URL } },
          ],
        }),
      ]);
      assert.equal(answer.text, `What is this?\n${PNG_MENTION}`);
    });

    test('keeps the status of errors', async () => {
      for (const [upstream, status] of [
        [400, 400],
        [422, 422],
        [500, 502],
        [429, 429],
      ])
        await assert.rejects(
          model(`error-${upstream}`).invoke('hi'),
          (error: unknown) => (error as { status?: unknown }).status === status,
        );
    });

    test(`${missesFailure === true ? 'ends' : 'throws'} when a stream breaks off`, async () => {
      let text = '';
      const reading = (async () => {
        for await (const chunk of await model('cut').stream('alpha beta gamma delta epsilon zeta after=3'))
          text += chunk.text;
      })();
      if (missesFailure === true) await reading;
      else await assert.rejects(reading);
      assert.match(text, /^alpha/);
    });

    test('ends the stream on abort, and the next request is served', async () => {
      const controller = new AbortController();
      let chunks = 0;
      const reading = (async () => {
        for await (const _chunk of await model('long').stream('tokens=2000 every=10', { signal: controller.signal }))
          if (++chunks === 5) controller.abort();
      })();
      await reading.catch((error: unknown) => assert.ok(error instanceof Error));
      assert.ok(chunks < 200);
      assert.equal((await model('echo').invoke('next')).text, 'next');
    });
  });

test('keeps signed thinking with @langchain/anthropic, and sends it back with a tool result', async () => {
  const thinking = new ChatAnthropic({
    model: 'messages-only/tools',
    apiKey: API_KEY,
    maxRetries: 0,
    maxTokens: 4_000,
    thinking: { type: 'enabled', budget_tokens: 2_000 },
    anthropicApiUrl: gateway.url,
  }).bindTools([getWeather]);
  const question = new HumanMessage('Weather?');
  const first = await thinking.invoke([question]);
  assert.ok(Array.isArray(first.content) && first.content.some(({ type }) => type === 'thinking'));
  const [call] = first.tool_calls ?? [];
  assert.ok(call !== undefined);
  const second = await thinking.invoke([
    question,
    first,
    new ToolMessage({ tool_call_id: call.id ?? '', content: '7 degrees' }),
  ]);
  assert.equal(second.text, 'tool get_weather said: 7 degrees');
});

/** The client's own type of this member is `never` under exact optional properties. */
function checkUsage(message: object, missesInput = false): void {
  const { usage_metadata: usage } = message as { readonly usage_metadata?: UsageMetadata };
  assert.ok(usage !== undefined && (missesInput || usage.input_tokens > 0) && usage.output_tokens > 0);
  assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
}
