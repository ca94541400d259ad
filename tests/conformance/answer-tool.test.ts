import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { startScriptedFormats } from '../support/upstreams/scripted-formats.ts';
import { json, messagesAnswer, sse, stream, type Script } from '../support/upstream.ts';

interface Block {
  readonly type: string;
  readonly name?: string;
  readonly input?: object;
  readonly text?: string;
}

/** A messages upstream that calls the forced tool, or with `any` one of several. */
function callTools(names: readonly string[]): Script {
  return (arrived, response, request) => {
    const blocks = names.map((name, at): Block & { id: string } => ({
      type: 'tool_use',
      id: `toolu_${at}`,
      name,
      input: { city: 'Oslo', days: 3 },
    }));
    const whole = messagesAnswer('', { content: blocks, stop_reason: 'tool_use' });
    const answer = arrived.body['stream'] === true ? stream(streamOf(blocks)) : json(200, whole);
    return answer(arrived, response, request);
  };
}

function streamOf(blocks: readonly Block[]): string {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
  const usage = { input_tokens: 10, output_tokens: 1 };
  const pieces = blocks.flatMap(({ input, ...block }, index) => [
    { type: 'content_block_start', index, content_block: { ...block, input: {} } },
    ...(JSON.stringify(input).match(/.{1,7}/g) ?? []).map((piece) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: piece },
    })),
    { type: 'content_block_stop', index },
  ]);
  const events = [
    { type: 'message_start', message: { ...head, usage } },
    ...pieces,
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ];
  return sse(events, { named: true });
}

const { gateway, messages: upstream } = await startScriptedFormats({ after });

const ANSWER = '{"city":"Oslo","days":3}';
const schema = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } };
const messages = [{ role: 'user', content: 'hi' }];
const TOOL = { name: 'f', description: 'd', parameters: { type: 'object' } };

const chat = {
  model: 'acme/messages',
  messages,
  response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
};
const own = {
  model: 'acme/messages',
  max_tokens: 100,
  messages,
  output_config: { format: { type: 'json_schema', schema } },
};

interface ChatAnswer {
  readonly choices: readonly {
    readonly message: { readonly content: string; readonly tool_calls?: readonly { function: { name: string } }[] };
    readonly finish_reason: string;
    readonly native_finish_reason: string;
  }[];
}

suite('a host without structured output', () => {
  test('responds to a chat caller in JSON, streamed and not', async () => {
    upstream.script = callTools(['json']);
    const whole = (await (await gateway.post('/chat/completions', chat)).json()) as ChatAnswer;
    const [choice] = whole.choices;
    assert.equal(choice?.message.content, ANSWER);
    assert.equal(choice?.message.tool_calls, undefined);
    assert.deepEqual([choice?.finish_reason, choice?.native_finish_reason], ['stop', 'tool_use']);
    const response = await gateway.post('/chat/completions', { ...chat, stream: true });
    const streamed = readChatStream(await response.text());
    assert.deepEqual([streamed.text, streamed.finish], [ANSWER, 'stop']);
    assert.ok(streamed.chunks.length > 4, 'in pieces as they came');
    assert.ok(!streamed.raw.includes('tool_calls'));
    assert.deepEqual(upstream.arrived.at(-1)?.body['tool_choice'], {
      type: 'tool',
      name: 'json',
      disable_parallel_tool_use: true,
    });
  });

  test('responds to a messages caller in JSON, streamed and not', async () => {
    upstream.script = callTools(['json']);
    const whole = (await (await gateway.post('/messages', own)).json()) as { content: Block[]; stop_reason: string };
    assert.deepEqual(
      whole.content.map(({ type, text }) => [type, text]),
      [['text', ANSWER]],
    );
    assert.equal(whole.stop_reason, 'end_turn');
    const streamed = readMessagesStream(await (await gateway.post('/messages', { ...own, stream: true })).text());
    assert.deepEqual([streamed.text, streamed.stopReason], [ANSWER, 'end_turn']);
    assert.equal(upstream.arrived.at(-1)?.body['output_config'], undefined);
  });

  test('may call a tool of the caller, with its own finish reason', async () => {
    upstream.script = callTools(['f']);
    const body = { ...chat, tools: [{ type: 'function', function: TOOL }] };
    for (const streaming of [false, true]) {
      const text = await (await gateway.post('/chat/completions', { ...body, stream: streaming })).text();
      assert.match(text, /"name":"f"/);
      assert.match(text, /"finish_reason":"tool_calls"/);
      assert.deepEqual(upstream.arrived.at(-1)?.body['tool_choice'], { type: 'any' });
    }
  });

  test('may do both in one response', async () => {
    upstream.script = callTools(['f', 'json']);
    const body = { ...chat, tools: [{ type: 'function', function: TOOL }] };
    const { choices } = (await (await gateway.post('/chat/completions', body)).json()) as ChatAnswer;
    assert.equal(choices[0]?.message.content, ANSWER);
    assert.deepEqual(
      choices[0].message.tool_calls?.map((call) => call.function.name),
      ['f'],
    );
    assert.equal(choices[0].finish_reason, 'tool_calls');
  });

  test('passes on a response in plain words', async () => {
    upstream.script = json(200, messagesAnswer(ANSWER));
    const { choices } = (await (await gateway.post('/chat/completions', chat)).json()) as ChatAnswer;
    assert.equal(choices[0]?.message.content, ANSWER);
    assert.equal(choices[0].finish_reason, 'stop');
  });
});
