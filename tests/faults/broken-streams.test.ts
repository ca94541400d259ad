import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatChunk, chatStream, json, messagesStream, sse, stream, type Script } from '../support/upstream.ts';

const ask = { model: 'acme/first', stream: true, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] };

/** Sends `text` and then breaks the connection. */
function cut(text: string): Script {
  return (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text);
    setTimeout(() => response.socket?.destroy(), 30);
  };
}

const half = sse([chatChunk({ role: 'assistant', content: 'half' })]);
const chatBreaks: Readonly<Record<string, Script>> = {
  'the connection breaks': cut(half),
  'the stream ends without a finish reason': stream(half),
  'an error event comes': stream(half + sse([{ error: { message: 'secret detail', code: 500 } }])),
};

for (const [name, script] of Object.entries(chatBreaks))
  // @spec stream-11, stream-20
  test(`ends a chat stream with one error and never with an invented stop when ${name} after content`, async (t) => {
    const { gateway, second } = await startTwoProviders(t, { first: script, second: stream(chatStream('never')) });
    const response = await gateway.post('/chat/completions', { ...ask, model: 'acme/both' });
    assert.equal(response.status, 200);
    const answer = readChatStream(await response.text());
    assert.equal(answer.text, 'half');
    assert.equal(answer.finish, 'error');
    assert.equal(answer.error?.code, 502);
    assert.doesNotMatch(answer.raw, /secret detail/);
    assert.equal(second.arrived.length, 0);
  });

test('ends a chat stream whose finish reason is an error with an error, free of charge', async (t) => {
  const { gateway } = await startTwoProviders(t, {
    first: stream(half + sse([chatChunk({}, 'insufficient_system_resource'), '[DONE]'])),
  });
  const response = await gateway.post('/chat/completions', ask);
  const answer = readChatStream(await response.text());
  assert.deepEqual([answer.text, answer.finish, answer.error?.code], ['half', 'error', 502]);
  assert.match(answer.raw, /"native_finish_reason":"insufficient_system_resource"/);
  const record = await gateway.app.generations.find(response.headers.get('x-generation-id') as string);
  assert.equal(record?.costNanoUsd, 0);
});

const untilDelta = messagesStream('half').split('event: content_block_stop')[0] as string;
const messagesBreaks: Readonly<Record<string, Script>> = {
  'the connection breaks': cut(untilDelta),
  'the stream ends early': stream(untilDelta),
  'an error event comes': stream(
    untilDelta + sse([{ type: 'error', error: { type: 'overloaded_error', message: 'x' } }], { named: true }),
  ),
};

for (const [name, script] of Object.entries(messagesBreaks))
  // @spec stream-28
  test(`ends a messages stream with one error event when ${name} after content`, async (t) => {
    const { gateway } = await startTwoProviders(t, { adapter: 'messages-compatible', first: script });
    const response = await gateway.post('/messages', ask);
    assert.equal(response.status, 200);
    const answer = readMessagesStream(await response.text());
    assert.equal(answer.text, 'half');
    assert.equal(answer.stopReason, null);
    assert.ok(answer.error !== undefined && answer.error.code >= 500);
  });

// @spec money-11
test('charges nothing for a broken response, and records that it broke', async (t) => {
  const { gateway } = await startTwoProviders(t, { first: cut(half) });
  const response = await gateway.post('/chat/completions', ask);
  const id = response.headers.get('x-generation-id') as string;
  await response.text();
  const record = await gateway.app.generations.find(id);
  assert.equal(record?.costNanoUsd, 0);
  assert.equal(record?.errorType, 'provider_unavailable');
  assert.equal(record?.finishReason, null);
});

// @spec stream-9
test('skips and counts a malformed event, and keeps the text exact', async (t) => {
  const garbage = 'data: {"choices":[{"delta":\n\n';
  const { gateway } = await startTwoProviders(t, {
    first: stream(
      chatStream('one two three')
        .replace('data: {', `${garbage}data: {`)
        .replace('data: [DONE]', `${garbage}data: [DONE]`),
    ),
  });
  const response = await gateway.post('/chat/completions', ask);
  const answer = readChatStream(await response.text());
  assert.equal(answer.text, 'one two three');
  assert.equal(answer.finish, 'stop');
  const record = await gateway.app.generations.find(response.headers.get('x-generation-id') as string);
  assert.equal(record?.skippedEvents, 2);
});

test('finishes a stream without [DONE] when its connection ends', async (t) => {
  const { gateway } = await startTwoProviders(t, { first: stream(chatStream('fine').replace('data: [DONE]\n\n', '')) });
  const answer = readChatStream(await (await gateway.post('/chat/completions', ask)).text());
  assert.deepEqual([answer.text, answer.finish, answer.error], ['fine', 'stop', undefined]);
});

test('streams the response of an upstream that does not stream', async (t) => {
  const { gateway } = await startTwoProviders(t, {
    first: json(200, {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'one-2026',
      choices: [{ index: 0, message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  });
  const answer = readChatStream(await (await gateway.post('/chat/completions', ask)).text());
  assert.deepEqual([answer.text, answer.finish], ['whole', 'stop']);
});

test('leaves the process healthy after a failed stream', async (t) => {
  const { gateway, first } = await startTwoProviders(t, { first: cut(half) });
  await (await gateway.post('/chat/completions', ask)).text();
  first.script = stream(chatStream('healthy'));
  assert.equal(readChatStream(await (await gateway.post('/chat/completions', ask)).text()).text, 'healthy');
});
