import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import OpenAI from 'openai';
import type { ChatCompletionCreateParams, ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { shareAllUpstreams } from '../support/upstreams/all-upstreams.ts';
import { API_KEY } from '../support/gateway.ts';
import { emit, speak } from '../support/upstreams/speak.ts';

const share = shareAllUpstreams();

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const FUNCTIONS: ChatCompletionCreateParams.Function[] = [
  { name: 'get_weather', description: 'The weather of a city', parameters: PARAMETERS },
];
const USER: ChatCompletionMessageParam = { role: 'user', content: 'Is it cold in Oslo?' };
const OSLO = '{"city":"Oslo"}';
const CALL = { type: 'call', id: 'call_a', name: 'get_weather', input: OSLO } as const;

function connect(): OpenAI {
  return new OpenAI({ baseURL: share().gateway.baseUrl, apiKey: API_KEY, maxRetries: 0 });
}

/** Members that say the same in each format: the names of the tools, how one is chosen, and the result of the call. */
const SENT: Readonly<Record<string, { readonly call: RegExp; readonly result: RegExp }>> = {
  chat: {
    call: /"tool_choice":\{"type":"function","function":\{"name":"get_weather"\}\},"parallel_tool_calls":false/,
    result: /"role":"tool","tool_call_id":"call_function_1","content":"4 degrees"/,
  },
  claude: {
    call: /"tool_choice":\{"type":"tool","name":"get_weather","disable_parallel_tool_use":true\}/,
    result: /"type":"tool_result","tool_use_id":"call_function_1","content":"4 degrees"/,
  },
  gemini: {
    call: /"functionCallingConfig":\{"mode":"ANY","allowedFunctionNames":\["get_weather"\]\}/,
    result: /"functionResponse":\{[^}]*"name":"get_weather"[^}]*"response":\{[^}]*4 degrees/,
  },
  responses: {
    call: /"tool_choice":\{"type":"function","name":"get_weather"\}/,
    result: /"type":"function_call_output","call_id":"call_function_1","output":"4 degrees"/,
  },
};

for (const [name, sent] of Object.entries(SENT))
  suite(`functions of the openai client, before ${name}`, () => {
    test('return a call, and a response once its result is sent', async () => {
      const { upstream } = share();
      upstream.script = speak({ parts: [CALL, { ...CALL, id: 'call_b', input: '{"city":"Rome"}' }] });
      const requested = { model: `acme/${name}`, functions: FUNCTIONS } as const;
      const first = await connect().chat.completions.create({
        ...requested,
        messages: [USER],
        function_call: { name: 'get_weather' },
      });
      const [choice] = first.choices;
      assert.equal(choice?.finish_reason, 'function_call');
      assert.deepEqual(choice.message.function_call, { name: 'get_weather', arguments: OSLO });
      assert.equal(choice.message.tool_calls, undefined);
      assert.match(upstream.arrived.at(-1)?.text ?? '', sent.call);
      const record = await share().gateway.app.generations.find(first.id);
      assert.match(record?.warnings.map(({ message }) => message).join('\n') ?? '', /function_call holds one call/);

      upstream.script = emit('Yes.');
      const second = await connect().chat.completions.create({
        ...requested,
        messages: [USER, choice.message, { role: 'function', name: 'get_weather', content: '4 degrees' }],
      });
      assert.equal(second.choices[0]?.message.content, 'Yes.');
      assert.equal(second.choices[0].finish_reason, 'stop');
      assert.match(upstream.arrived.at(-1)?.text ?? '', sent.result);
      assert.doesNotMatch(upstream.arrived.at(-1)?.text ?? '', /"functions"|"function_call":/);
    });

    test('return the same in a stream', async () => {
      const { upstream } = share();
      upstream.script = speak({ parts: [{ type: 'text', text: 'Let me see.' }, CALL] });
      const stream = await connect().chat.completions.create({
        model: `acme/${name}`,
        functions: FUNCTIONS,
        messages: [USER],
        stream: true,
      });
      const call = { name: '', arguments: '' };
      const reasons: string[] = [];
      let text = '';
      for await (const { choices } of stream) {
        const [choice] = choices;
        if (choice === undefined) continue;
        assert.equal(choice.delta.tool_calls, undefined);
        text += choice.delta.content ?? '';
        call.name += choice.delta.function_call?.name ?? '';
        call.arguments += choice.delta.function_call?.arguments ?? '';
        if (choice.finish_reason !== null) reasons.push(choice.finish_reason);
      }
      assert.deepEqual(
        [text, call, reasons],
        ['Let me see.', { name: 'get_weather', arguments: OSLO }, ['function_call']],
      );

      upstream.script = emit('Yes.');
      const second = await connect().chat.completions.create({
        model: `acme/${name}`,
        functions: FUNCTIONS,
        messages: [
          USER,
          { role: 'assistant', content: text, function_call: call },
          { role: 'function', name: 'get_weather', content: '4 degrees' },
        ],
        stream: true,
      });
      let answer = '';
      for await (const { choices } of second) answer += choices[0]?.delta.content ?? '';
      assert.equal(answer, 'Yes.');
      assert.match(upstream.arrived.at(-1)?.text ?? '', sent.result);
    });
  });

// @spec chat-28
test('rejects functions of the openai client beside tools', async () => {
  const requested = connect().chat.completions.create({
    model: 'acme/chat',
    messages: [USER],
    functions: FUNCTIONS,
    tools: [{ type: 'function', function: { name: 'get_time' } }],
  });
  await assert.rejects(requested, (error: unknown) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.match(error.message, /functions.*tools/);
    return true;
  });
});
