import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChatStream } from '../support/http/read-stream.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatChunk, chatStream, json, sse, stream, type Script } from '../support/upstream.ts';

const error = {
  message: 'Failed to call a function. Please adjust your prompt.',
  type: 'invalid_request_error',
  code: 'tool_use_failed',
};
const ask = { model: 'acme/both', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] };

/** console.groq.com "Error codes", read 2026-11: beside its status a frame of a stream says `status_code`. */
const ways: Readonly<Record<string, Script>> = {
  'a status': json(400, { error }),
  'a frame of a stream': stream(sse([chatChunk({ role: 'assistant' }), { error: { ...error, status_code: 400 } }])),
};

for (const [way, script] of Object.entries(ways))
  test(`retries elsewhere a call that the model wrote wrong, as ${way}`, async (t) => {
    const second = stream(chatStream('well'));
    const { gateway } = await startTwoProviders(t, { first: script, second });
    const response = await gateway.post('/chat/completions', { ...ask, stream: true });
    assert.equal(readChatStream(await response.text()).text, 'well');
  });

test('blames the provider, not the request, for such a frame after content', async (t) => {
  const begun = sse([chatChunk({ role: 'assistant', content: 'half' }), { error: { ...error, status_code: 400 } }]);
  const { gateway } = await startTwoProviders(t, { first: stream(begun) });
  const response = await gateway.post('/chat/completions', { ...ask, stream: true });
  const answer = readChatStream(await response.text());
  assert.deepEqual([answer.text, answer.finish, answer.error?.code], ['half', 'error', 502]);
});

// @spec error-14
test('treats an error in place of a response like its status', async (t) => {
  const second = json(200, { choices: [{ message: { content: 'well' }, finish_reason: 'stop' }] });
  const { gateway } = await startTwoProviders(t, {
    first: json(200, { error: { ...error, status_code: 400 } }),
    second,
  });
  const response = await gateway.post('/chat/completions', ask);
  const body = (await response.json()) as { choices: { message: { content: string } }[] };
  assert.equal(body.choices[0]?.message.content, 'well');
});
