import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTwoProviders } from '../support/two-providers.ts';
import {
  chatAnswer,
  chatChunk,
  chatStream,
  json,
  messagesStream,
  sse,
  stream,
  type Script,
} from '../support/upstream.ts';

const ask = { max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] };

interface ChatBody {
  readonly choices: readonly [
    {
      readonly finish_reason: string;
      readonly message: { readonly content: string; readonly tool_calls?: readonly object[] };
      readonly error?: { readonly code: number };
    },
  ];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

function streamAs(contentType: string, text: string): Script {
  return (_arrived, response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.end(text);
  };
}

for (const contentType of ['text/event-stream', 'text/event-stream; charset=utf-8', 'Text/Event-Stream'])
  test(`folds a chat response that comes as ${contentType}`, async (t) => {
    const { gateway, first } = await startTwoProviders(t, {
      first: streamAs(contentType, chatStream('sent in pieces')),
    });
    const response = await gateway.post('/chat/completions', { ...ask, model: 'acme/first' });
    assert.equal(response.status, 200);
    assert.equal(first.arrived[0]?.body['stream'], undefined);
    const body = (await response.json()) as ChatBody;
    assert.equal(body.choices[0].message.content, 'sent in pieces');
    assert.equal(body.choices[0].finish_reason, 'stop');
    assert.deepEqual([body.usage.prompt_tokens, body.usage.completion_tokens], [10, 5]);
    const record = await gateway.app.generations.find(response.headers.get('x-generation-id') as string);
    assert.deepEqual([record?.tokensPrompt, record?.tokensCompletion], [10, 5]);
  });

test('folds a messages response that comes as a stream, for callers of both formats', async (t) => {
  const { gateway } = await startTwoProviders(t, {
    adapter: 'messages-compatible',
    first: stream(messagesStream('sent in pieces')),
  });
  const own = await gateway.post('/messages', { ...ask, model: 'acme/first' });
  const { content, stop_reason: reason } = (await own.json()) as { content: object[]; stop_reason: string };
  assert.deepEqual([content, reason], [[{ type: 'text', text: 'sent in pieces', citations: null }], 'end_turn']);
  const foreign = await gateway.post('/chat/completions', { ...ask, model: 'acme/first' });
  assert.equal(((await foreign.json()) as ChatBody).choices[0].message.content, 'sent in pieces');
});

test('joins calls in an unrequested stream', async (t) => {
  const call = (piece: object): object => chatChunk({ tool_calls: [{ index: 0, ...piece }] });
  const { gateway } = await startTwoProviders(t, {
    first: stream(
      sse([
        call({ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"n":' } }),
        call({ function: { arguments: '1.0}' } }),
        chatChunk({}, 'tool_calls'),
        '[DONE]',
      ]),
    ),
  });
  const response = await gateway.post('/chat/completions', { ...ask, model: 'acme/first' });
  const [choice] = ((await response.json()) as ChatBody).choices;
  assert.deepEqual(choice.message.tool_calls, [
    { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"n":1.0}' } },
  ]);
});

const half = sse([chatChunk({ role: 'assistant', content: 'half' })]);

for (const [name, script] of [
  ['has no end', stream(half)],
  ['breaks off with its connection', cutAfter(half)],
  ['ends with an error', stream(half + sse([{ error: { message: 'x', code: 500 } }]))],
] as const) {
  test(`moves to the next provider after an unrequested stream that ${name}`, async (t) => {
    const { gateway } = await startTwoProviders(t, { first: script, second: json(200, chatAnswer('second')) });
    const response = await gateway.post('/chat/completions', { ...ask, model: 'acme/both' });
    assert.equal(((await response.json()) as ChatBody).choices[0].message.content, 'second');
  });

  test(`returns the beginning of a stream that ${name} when no other candidate is left`, async (t) => {
    const { gateway } = await startTwoProviders(t, { first: script });
    const response = await gateway.post('/chat/completions', { ...ask, model: 'acme/first' });
    assert.equal(response.status, 200);
    const [choice] = ((await response.json()) as ChatBody).choices;
    assert.deepEqual([choice.message.content, choice.finish_reason, choice.error?.code], ['half', 'error', 502]);
  });
}

function cutAfter(text: string): Script {
  return (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text);
    setTimeout(() => response.socket?.destroy(), 30);
  };
}

test('limits an unrequested stream like any response', async (t) => {
  let sentMiB = 0;
  const piece = sse([chatChunk({ content: 'x'.repeat(1_024 * 1_024) })]);
  const { gateway } = await startTwoProviders(t, {
    first: (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const send = (): void => {
        while (!response.destroyed && sentMiB < 200) {
          sentMiB++;
          if (!response.write(piece)) {
            response.once('drain', send);
            return;
          }
        }
      };
      send();
    },
    second: json(200, chatAnswer('second')),
  });
  const response = await gateway.post('/chat/completions', { ...ask, model: 'acme/both' });
  assert.equal(((await response.json()) as ChatBody).choices[0].message.content, 'second');
  assert.ok(sentMiB < 100, `${sentMiB} MiB were read`);
});

test('ends with the response despite an open stream, and ends a stuck one at the limit', async (t) => {
  const stays =
    (text: string): Script =>
    (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(text);
    };
  const { gateway, first } = await startTwoProviders(t, {
    timeouts: '{ whole_ms: 400 }',
    first: stays(chatStream('done')),
    second: json(200, chatAnswer('second')),
  });
  const done = await gateway.post('/chat/completions', { ...ask, model: 'acme/both' });
  assert.equal(((await done.json()) as ChatBody).choices[0].message.content, 'done');
  first.script = stays(half);
  const hung = await gateway.post('/chat/completions', { ...ask, model: 'acme/both' });
  assert.equal(((await hung.json()) as ChatBody).choices[0].message.content, 'second');
});
