import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { JsonObject } from '../../src/lib/json.ts';
import { CALLERS, shareAllUpstreams, type UpstreamName } from '../support/upstreams/all-upstreams.ts';
import { toolsOf } from '../support/next-turn.ts';
import { frameConverse } from '../support/upstreams/spoken.ts';
import { chatChunk, sse, type Script } from '../support/upstream.ts';

const shared = shareAllUpstreams();

const EXPECTED = [
  { id: 'call_a', name: 'look', arguments: '{"at":"sky"}' },
  { id: 'call_b', name: 'hear', arguments: '{"at":"sea"}' },
];
/** Where the arguments are cut. */
const [SKY_1, SKY_2] = ['{"at":', '"sky"}'];
const [SEA_1, SEA_2] = ['{"at":"', 'sea"}'];

/** The text that every answer begins with. */
const STATED = 'Both at once.';

function chatStream(...deltas: readonly JsonObject[]): string {
  return sse([
    chatChunk({ role: 'assistant', content: STATED }),
    ...deltas.map((call) => chatChunk({ tool_calls: [call] })),
    chatChunk({}, 'tool_calls'),
    '[DONE]',
  ]);
}

const named = (index: number, id: string, name: string, more = ''): JsonObject => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: more },
});
const piece = (index: number | undefined, more: string): JsonObject => ({
  ...(index !== undefined && { index }),
  function: { arguments: more },
});

function messagesStream(): string {
  const start = (index: number, block: JsonObject): JsonObject => ({
    type: 'content_block_start',
    index,
    content_block: block,
  });
  const delta = (index: number, value: JsonObject): JsonObject => ({
    type: 'content_block_delta',
    index,
    delta: value,
  });
  const input = (index: number, partial_json: string): JsonObject =>
    delta(index, { type: 'input_json_delta', partial_json });
  const stop = (index: number): JsonObject => ({ type: 'content_block_stop', index });
  const usage = { input_tokens: 10, output_tokens: 5 };
  return sse(
    [
      { type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage } },
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: STATED }),
      stop(0),
      start(1, { type: 'tool_use', id: 'call_a', name: 'look', input: {} }),
      start(2, { type: 'tool_use', id: 'call_b', name: 'hear', input: {} }),
      input(1, SKY_1),
      input(2, SEA_1),
      input(1, SKY_2),
      input(2, SEA_2),
      stop(1),
      stop(2),
      { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
    { named: true },
  );
}

function responsesStream(): string {
  const call = (id: string, name: string, given: string): JsonObject => ({
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: given,
  });
  const message = { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: STATED, annotations: [] }] };
  const output = [message, call('call_a', 'look', '{"at":"sky"}'), call('call_b', 'hear', '{"at":"sea"}')];
  const added = (output_index: number, item: JsonObject): JsonObject => ({
    type: 'response.output_item.added',
    output_index,
    item,
  });
  const input = (output_index: number, delta: string): JsonObject => ({
    type: 'response.function_call_arguments.delta',
    output_index,
    delta,
  });
  return sse(
    [
      { type: 'response.created', response: { id: 'resp_1', model: 'one-2026', status: 'in_progress', output: [] } },
      added(0, { ...message, content: [] }),
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: STATED },
      added(1, call('call_a', 'look', '')),
      added(2, call('call_b', 'hear', '')),
      input(1, SKY_1),
      input(2, SEA_1),
      input(1, SKY_2),
      input(2, SEA_2),
      ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
      {
        type: 'response.completed',
        response: {
          id: 'resp_1',
          model: 'one-2026',
          status: 'completed',
          output,
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
    ],
    { named: true },
  );
}

function cohereStream(): string {
  const event = (type: string, index: number, message: JsonObject): JsonObject => ({ type, index, delta: { message } });
  const begin = (index: number, id: string, name: string): JsonObject =>
    event('tool-call-start', index, { tool_calls: { id, type: 'function', function: { name, arguments: '' } } });
  const input = (index: number, given: string): JsonObject =>
    event('tool-call-delta', index, { tool_calls: { function: { arguments: given } } });
  const usage = { tokens: { input_tokens: 10, output_tokens: 5 } };
  return sse(
    [
      { id: 'c-1', type: 'message-start', delta: { message: { role: 'assistant' } } },
      event('content-start', 0, { content: { type: 'text', text: '' } }),
      event('content-delta', 0, { content: { text: STATED } }),
      { type: 'content-end', index: 0 },
      begin(0, 'call_a', 'look'),
      begin(1, 'call_b', 'hear'),
      input(0, SKY_1),
      input(1, SEA_1),
      input(0, SKY_2),
      input(1, SEA_2),
      { type: 'tool-call-end', index: 0 },
      { type: 'tool-call-end', index: 1 },
      { type: 'message-end', delta: { finish_reason: 'TOOL_CALL', usage } },
    ],
    { named: true },
  );
}

function converseStream(): Buffer {
  const start = (contentBlockIndex: number, toolUseId: string, name: string) =>
    ['contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId, name } } }] as const;
  const delta = (contentBlockIndex: number, value: JsonObject) =>
    ['contentBlockDelta', { contentBlockIndex, delta: value }] as const;
  const stop = (contentBlockIndex: number) => ['contentBlockStop', { contentBlockIndex }] as const;
  return frameConverse([
    ['messageStart', { role: 'assistant' }],
    delta(0, { text: STATED }),
    stop(0),
    start(1, 'call_a', 'look'),
    start(2, 'call_b', 'hear'),
    delta(1, { toolUse: { input: SKY_1 } }),
    delta(2, { toolUse: { input: SEA_1 } }),
    delta(1, { toolUse: { input: SKY_2 } }),
    delta(2, { toolUse: { input: SEA_2 } }),
    stop(1),
    stop(2),
    ['messageStop', { stopReason: 'tool_use' }],
    ['metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }],
  ]);
}

function send(body: string | Buffer): Script {
  const type = typeof body === 'string' ? 'text/event-stream' : 'application/vnd.amazon.eventstream';
  return (_arrived, response) => {
    response.writeHead(200, { 'content-type': type });
    response.end(body);
  };
}

/** A stream of an upstream is always read the same way, even when the request was not for a stream. */
function declare(promise: string, name: UpstreamName, body: string | Buffer): void {
  for (const caller of CALLERS)
    for (const stream of [true, false])
      test(`${promise}, ${caller} caller, stream: ${stream}`, async () => {
        const { upstream, ask } = shared();
        upstream.script = send(body);
        const requested = { max_tokens: 100, stream, messages: [{ role: 'user', content: 'Look and listen.' }] };
        const { reported } = await ask(caller, name, { ...requested, tools: toolsOf(caller, 'look', 'hear') });
        assert.deepEqual(reported.calls, EXPECTED);
        assert.equal(reported.text, STATED);
        assert.equal(reported.finish, caller === 'chat' ? 'tool_calls' : 'tool_use');
      });
}

const INTERLEAVED = chatStream(
  named(0, 'call_a', 'look'),
  named(1, 'call_b', 'hear'),
  piece(0, SKY_1),
  piece(1, SEA_1),
  piece(0, SKY_2),
  piece(1, SEA_2),
);

suite('parallel calls with interleaved arguments', () => {
  declare('chat keeps them apart', 'chat', INTERLEAVED);
  declare('messages keeps them apart', 'claude', messagesStream());
  declare('responses keeps them apart', 'responses', responsesStream());
  declare('converse keeps them apart', 'converse', converseStream());
  declare('cohere keeps them apart', 'cohere', cohereStream());
});

suite('a host', () => {
  const quirks: readonly (readonly [promise: string, stream: string])[] = [
    [
      'gives every call index 0 is understood by its ids',
      chatStream(named(0, 'call_a', 'look', '{"at":"sky"}'), named(0, 'call_b', 'hear', '{"at":"sea"}')),
    ],
    [
      'gives every call index 0 and its arguments in pieces is understood by its ids',
      chatStream(
        named(0, 'call_a', 'look', SKY_1),
        piece(0, SKY_2),
        named(0, 'call_b', 'hear', SEA_1),
        piece(0, SEA_2),
      ),
    ],
    [
      'omits the index is understood by its ids',
      chatStream(
        { id: 'call_a', type: 'function', function: { name: 'look', arguments: SKY_1 } },
        piece(undefined, SKY_2),
        { id: 'call_b', type: 'function', function: { name: 'hear', arguments: SEA_1 } },
        piece(undefined, SEA_2),
      ),
    ],
    [
      'sends the name in pieces has it put together',
      chatStream(
        named(0, 'call_a', 'lo'),
        { index: 0, function: { name: 'ok', arguments: SKY_1 } },
        piece(0, SKY_2),
        named(1, 'call_b', 'h'),
        { index: 1, function: { name: 'ear' } },
        piece(1, SEA_1 + SEA_2),
      ),
    ],
    [
      'sends the name after the arguments has its calls all the same',
      chatStream(
        { index: 0, id: 'call_a', type: 'function', function: { arguments: SKY_1 } },
        { index: 1, id: 'call_b', type: 'function', function: { arguments: SEA_1 } },
        piece(0, SKY_2),
        piece(1, SEA_2),
        { index: 0, function: { name: 'look' } },
        { index: 1, function: { name: 'hear' } },
      ),
    ],
    [
      'sends the id after the name has it kept',
      chatStream(
        { index: 0, function: { name: 'look' } },
        { index: 0, id: 'call_a', function: { arguments: SKY_1 } },
        piece(0, SKY_2),
        { index: 1, function: { name: 'hear' } },
        { index: 1, id: 'call_b', function: { arguments: SEA_1 } },
        piece(1, SEA_2),
      ),
    ],
    [
      'repeats id and name with every piece makes no more calls of it',
      chatStream(
        named(0, 'call_a', 'look', SKY_1),
        named(1, 'call_b', 'hear', SEA_1),
        named(0, 'call_a', 'look', SKY_2),
        named(1, 'call_b', 'hear', SEA_2),
      ),
    ],
  ];
  for (const [promise, stream] of quirks) declare(promise, 'chat', stream);
});
