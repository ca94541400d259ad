import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChatStream } from '../support/http/read-stream.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatAnswer, chatChunk, chatStream, json, sse, stream, type Script } from '../support/upstream.ts';

const ask = { stream: true, messages: [{ role: 'user', content: 'hi' }] };
const silent: Script = () => undefined;
const silentAfter =
  (text: string): Script =>
  (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text);
  };
const roleChunk = sse([chatChunk({ role: 'assistant', content: '' })]);

// @spec fallback-9, fallback-10
test('leaves a provider that sends no headers after the header limit, and does not call it twice', async (t) => {
  const { gateway, first } = await startTwoProviders(t, {
    timeouts: '{ headers_ms: 150 }',
    first: silent,
    second: stream(chatStream('second')),
  });
  const response = await gateway.post('/chat/completions', { ...ask, model: 'acme/both' });
  assert.equal(readChatStream(await response.text()).text, 'second');
  assert.equal(first.arrived.length, 1);
});

// @spec fallback-1
test('applies the first-token limit despite comments and lifecycle frames', async (t) => {
  const { gateway } = await startTwoProviders(t, {
    timeouts: '{ first_token_ms: 200 }',
    first: (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(roleChunk);
      const timer = setInterval(() => response.write(': PROCESSING\n\n'), 30);
      response.on('close', () => clearInterval(timer));
    },
    second: stream(chatStream('second')),
  });
  const response = await gateway.post('/chat/completions', { ...ask, model: 'acme/both' });
  assert.equal(readChatStream(await response.text()).text, 'second');
});

for (const [name, timeouts, script] of [
  ['headers', '{ headers_ms: 100 }', silent],
  ['first token', '{ first_token_ms: 100 }', silentAfter(roleChunk)],
] as const)
  // @spec error-10
  test(`returns 524 when every provider exceeds the ${name} limit`, async (t) => {
    const { gateway } = await startTwoProviders(t, { timeouts, first: script, second: script });
    const response = await gateway.post('/chat/completions', { ...ask, model: 'acme/both' });
    assert.equal(response.status, 524);
    const { error } = (await response.json()) as { error: { code: number; metadata: { error_type: string } } };
    assert.deepEqual([error.code, error.metadata.error_type], [524, 'timeout']);
  });

// @spec fallback-10
test('applies the separate limit of a response that is not streamed', async (t) => {
  const { gateway } = await startTwoProviders(t, {
    timeouts: '{ whole_ms: 150 }',
    first: (_arrived, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"id":');
    },
    second: json(200, chatAnswer('second')),
  });
  const response = await gateway.post('/chat/completions', { ...ask, stream: false, model: 'acme/both' });
  assert.equal(response.status, 200);
});

// @spec fallback-11
test('ends the stream with an in-stream 524 when a provider falls silent after content', async (t) => {
  const { gateway } = await startTwoProviders(t, {
    timeouts: '{ idle_ms: 150 }',
    first: silentAfter(sse([chatChunk({ role: 'assistant', content: 'half' })])),
  });
  const answer = readChatStream(
    await (await gateway.post('/chat/completions', { ...ask, model: 'acme/first' })).text(),
  );
  assert.deepEqual([answer.text, answer.finish, answer.error?.code], ['half', 'error', 524]);
});

// @spec error-10
test('returns 408 at the total limit of the request, over all attempts', async (t) => {
  const { gateway, second } = await startTwoProviders(t, {
    timeouts: '{ total_ms: 200 }',
    first: silent,
    second: silent,
  });
  const response = await gateway.post('/chat/completions', { ...ask, model: 'acme/both' });
  assert.equal(response.status, 408);
  await response.text();
  assert.equal(second.arrived.length, 0);
});
