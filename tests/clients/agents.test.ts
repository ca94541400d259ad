import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import OpenAI from 'openai';
import { findClient } from '../support/clients/installed.ts';
import { API_KEY } from '../support/gateway.ts';
import type { Arrived, ScriptedUpstream } from '../support/upstream.ts';
import { startAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { speak } from '../support/upstreams/speak.ts';
import type { SpokenPart } from '../support/upstreams/spoken.ts';

/** The agents SDK, as far as the tests use it. */
interface AgentsSdk {
  readonly Agent: new (options: {
    readonly name: string;
    readonly instructions: string;
    readonly model: object;
    readonly tools?: readonly object[];
    readonly handoffs?: readonly object[];
    readonly handoffDescription?: string;
  }) => object;
  readonly OpenAIResponsesModel: new (client: object, model: string) => object;
  run(agent: object, input: string, options?: RunOptions): Promise<RunResult>;
  run(agent: object, input: string, options: RunOptions & { readonly stream: true }): Promise<StreamedRun>;
  setTracingDisabled(isDisabled: boolean): void;
  tool(options: {
    readonly name: string;
    readonly description: string;
    readonly parameters: object;
    readonly strict: boolean;
    readonly execute: (input: unknown) => Promise<string>;
  }): object;
}

interface RunOptions {
  readonly previousResponseId?: string;
}

interface RunResult {
  readonly finalOutput?: unknown;
  readonly lastResponseId?: string;
  readonly lastAgent?: { readonly name: string };
}

interface StreamedRun extends RunResult, AsyncIterable<{ readonly type: string }> {
  readonly completed: Promise<void>;
}

const installed = findClient('@openai/agents/dist/index.mjs');
const loadSdk = async (): Promise<AgentsSdk> => {
  assert.equal(installed.skip, false);
  const sdk = (await import(pathToFileURL(installed.path).href)) as AgentsSdk;
  // Traces would go to the vendor.
  sdk.setTracingDisabled(true);
  return sdk;
};

type Served = 'chat' | 'claude' | 'responses';
const SERVED: readonly Served[] = ['chat', 'claude', 'responses'];

interface Session {
  readonly sdk: AgentsSdk;
  readonly model: object;
  readonly upstream: ScriptedUpstream;
}

/** @param play what the model says, by the count of requests from 1 */
async function startSession(
  t: TestContext,
  served: Served,
  play: (count: number, arrived: Arrived) => readonly SpokenPart[],
): Promise<Session> {
  const sdk = await loadSdk();
  const { gateway, upstream } = await startAllUpstreams(t);
  upstream.script = (arrived, response, request) =>
    speak({ parts: play(upstream.arrived.length, arrived) })(arrived, response, request);
  const client = new OpenAI({ baseURL: gateway.baseUrl, apiKey: API_KEY, maxRetries: 0 });
  return { sdk, model: new sdk.OpenAIResponsesModel(client, `acme/${served}`), upstream };
}

function weatherTool(sdk: AgentsSdk): object {
  return sdk.tool({
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
    strict: true,
    execute: (input) => Promise.resolve(`7 degrees in ${(input as { city: string }).city}`),
  });
}

const CALL: SpokenPart = {
  type: 'call',
  id: 'call_1',
  name: 'get_weather',
  input: '{"city":"Oslo"}',
};
const THOUGHT: SpokenPart = { type: 'thought', text: 'I look it up.', seal: 'c2VhbA==', id: 'rs_1' };

suite('the agents SDK', { skip: installed.skip }, () => {
  for (const served of SERVED) {
    test(`runs a tool, streamed and not, and sends its reasoning back: ${served}`, async (t) => {
      const { sdk, model, upstream } = await startSession(t, served, (count) =>
        count % 2 === 1 ? [THOUGHT, CALL] : [{ type: 'text', text: 'It is cold.' }],
      );
      const agent = new sdk.Agent({ name: 'Weather', instructions: 'Be brief.', model, tools: [weatherTool(sdk)] });
      const whole = await sdk.run(agent, 'Weather in Oslo?');
      assert.equal(whole.finalOutput, 'It is cold.');
      const streamed = await sdk.run(agent, 'Weather in Oslo?', { stream: true });
      const kinds = new Set<string>();
      for await (const { type } of streamed) kinds.add(type);
      await streamed.completed;
      assert.equal(streamed.finalOutput, 'It is cold.');
      assert.ok(kinds.has('raw_model_stream_event') && kinds.has('run_item_stream_event'));
      for (const { text } of [upstream.arrived[1], upstream.arrived[3]] as Arrived[]) {
        assert.match(text, /7 degrees in Oslo/);
        assert.match(text, served === 'chat' ? /I look it up\./ : /c2VhbA==/);
      }
    });

    test(`hands over to another agent, which sees all of it: ${served}`, async (t) => {
      const { sdk, model, upstream } = await startSession(t, served, (count) =>
        count === 1
          ? [{ type: 'call', id: 'call_1', name: 'transfer_to_Poet', input: '{}' }]
          : [{ type: 'text', text: 'Snow.' }],
      );
      const poet = new sdk.Agent({ name: 'Poet', instructions: 'Write poems.', model, handoffDescription: 'Writes.' });
      const desk = new sdk.Agent({ name: 'Desk', instructions: 'Hand over.', model, handoffs: [poet] });
      const result = await sdk.run(desk, 'A poem, please.');
      assert.equal(result.finalOutput, 'Snow.');
      assert.equal(result.lastAgent?.name, 'Poet');
      assert.match(upstream.arrived[1]?.text ?? '', /Write poems\./);
      assert.match(upstream.arrived[1]?.text ?? '', /transfer_to_Poet/);
    });

    test(`goes on from the response before, which the gateway has kept: ${served}`, async (t) => {
      const { sdk, model, upstream } = await startSession(t, served, (count) =>
        count === 1 ? [THOUGHT, CALL] : [{ type: 'text', text: `Reply ${count}.` }],
      );
      const agent = new sdk.Agent({ name: 'Weather', instructions: 'Be brief.', model, tools: [weatherTool(sdk)] });
      const first = await sdk.run(agent, 'Weather in Oslo?');
      assert.match(first.lastResponseId ?? '', /^resp_/);
      const second = await sdk.run(agent, 'And now?', { previousResponseId: first.lastResponseId ?? '' });
      assert.equal(second.finalOutput, 'Reply 3.');
      for (const text of ['Weather in Oslo?', '7 degrees in Oslo', 'Reply 2.', 'And now?'])
        assert.ok(upstream.arrived[2]?.text.includes(text), text);
    });
  }
});
