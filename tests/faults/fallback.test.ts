import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChatStream, readMessagesStream } from '../support/http/read-stream.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import {
  chatAnswer,
  chatChunk,
  chatStream,
  json,
  messagesAnswer,
  messagesStream,
  sse,
  stream,
  type Script,
} from '../support/upstream.ts';

/** Everything that may go wrong before the first content, by what the test calls it. */
const chatFaults: Readonly<Record<string, Script>> = {
  'status 429': json(429, { error: { message: 'slow down', code: 'rate_limit_exceeded' } }),
  'status 500': json(500, { error: { message: 'oops' } }),
  'status 503': json(503, { error: { message: 'unavailable' } }),
  'status 529': json(529, { error: { message: 'overloaded' } }),
  'status 401': json(401, { error: { message: 'bad key upstream-secret-1' } }),
  'status 402': json(402, { error: { message: 'no funds' } }),
  'status 404': json(404, { error: { message: 'no such model' } }),
  'a redirect': json(302, {}, { location: 'http://127.0.0.1:1/' }),
  'an error object in an answer of status 200': json(200, { error: { message: 'inner failure', code: 500 } }),
  'a reset before the headers': (_arrived, response) => void response.socket?.destroy(),
  'bytes that are not HTTP': (_arrived, response) => void response.socket?.end('nonsense\r\n\r\n'),
  'a page instead of an answer': (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>down</html>');
  },
  'an empty body': (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end();
  },
  'a whole answer that broke off': json(
    200,
    chatAnswer('', {
      choices: [{ index: 0, message: { role: 'assistant', content: 'half' }, finish_reason: 'error' }],
    }),
  ),
};

const chatStreamFaults: Readonly<Record<string, Script>> = {
  ...chatFaults,
  'an error event first': stream(sse([{ error: { message: 'overloaded', code: 529 } }])),
  'an end after the role chunk': stream(sse([chatChunk({ role: 'assistant', content: '' })])),
  'a reset after the role chunk': (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse([chatChunk({ role: 'assistant', content: '' })]));
    setTimeout(() => response.socket?.destroy(), 20);
  },
  'an error event after the role chunk': stream(
    sse([chatChunk({ role: 'assistant', content: '' }), { error: { message: 'boom', code: 500 } }]),
  ),
  'an error for its reason to stop': stream(
    sse([chatChunk({ role: 'assistant', content: '' }), chatChunk({}, 'error'), '[DONE]']),
  ),
  'only [DONE]': stream('data: [DONE]\n\n'),
  'only garbage events': stream('data: {"broken\n\ndata: }{\n\n'),
};

const messagesStreamFaults: Readonly<Record<string, Script>> = {
  'status 529': json(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
  'status 500': json(500, { type: 'error', error: { type: 'api_error', message: 'x' } }),
  'an error event first': stream(
    sse([{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }], { named: true }),
  ),
  'an error event after message_start': stream(
    `${messagesStream('x').slice(0, messagesStream('x').indexOf('event: ping'))}${sse([{ type: 'error', error: { type: 'api_error', message: 'boom' } }], { named: true })}`,
  ),
  'an end after message_start': stream(messagesStream('x').slice(0, messagesStream('x').indexOf('event: ping'))),
  'an end after an empty block start': stream(
    messagesStream('x').slice(0, messagesStream('x').indexOf('event: content_block_delta')),
  ),
  'a reset before the headers': (_arrived, response) => void response.socket?.destroy(),
};

for (const [name, script] of Object.entries(chatStreamFaults))
  // @spec fallback-1
  test(`survives ${name} in a chat stream: one clean response from the next provider`, async (t) => {
    const { gateway, second } = await startTwoProviders(t, {
      first: script,
      second: stream(chatStream('from the second')),
    });
    const response = await gateway.post('/chat/completions', {
      model: 'acme/both',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.equal(response.status, 200);
    const answer = readChatStream(await response.text());
    assert.equal(answer.text, 'from the second');
    assert.equal(answer.finish, 'stop');
    assert.equal(answer.error, undefined);
    assert.ok(answer.chunks.every((chunk) => chunk['provider'] === 'Second' && chunk['model'] === 'acme/both'));
    assert.equal(second.arrived.length, 1);
  });

for (const [name, script] of Object.entries(chatFaults))
  test(`survives ${name} in a chat response`, async (t) => {
    const { gateway } = await startTwoProviders(t, { first: script, second: json(200, chatAnswer('from the second')) });
    const response = await gateway.post('/chat/completions', {
      model: 'acme/both',
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.equal(response.status, 200);
    const answer = (await response.json()) as { provider: string; choices: { message: { content: string } }[] };
    assert.equal(answer.choices[0]?.message.content, 'from the second');
    assert.equal(answer.provider, 'Second');
  });

for (const [name, script] of Object.entries(messagesStreamFaults))
  test(`survives ${name} in a messages stream`, async (t) => {
    const { gateway } = await startTwoProviders(t, {
      adapter: 'messages-compatible',
      first: script,
      second: stream(messagesStream('from the second')),
    });
    const response = await gateway.post('/messages', {
      model: 'acme/both',
      max_tokens: 100,
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.equal(response.status, 200);
    const answer = readMessagesStream(await response.text());
    assert.equal(answer.text, 'from the second');
    assert.equal(answer.stopReason, 'end_turn');
  });

// @spec chat-response-13
test('returns the beginning of a response that broke off when no other candidate is left', async (t) => {
  const choice = { index: 0, message: { role: 'assistant', content: 'half' }, finish_reason: 'error' };
  const { gateway } = await startTwoProviders(t, { first: json(200, chatAnswer('', { choices: [choice] })) });
  for (const path of ['/chat/completions', '/messages']) {
    const body = { model: 'acme/first', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
    const response = await gateway.post(path, body, { 'x-service-metadata': 'enabled' });
    assert.equal(response.status, 200);
    const text = await response.text();
    assert.match(text, /"half"/);
    if (path === '/messages') assert.match(text, /"stop_reason":null,.*"error":\{/);
    else {
      const { choices } = JSON.parse(text) as { choices: [{ finish_reason: string; error: object }] };
      assert.equal(choices[0].finish_reason, 'error');
      assert.deepEqual(choices[0].error, {
        code: 502,
        message: 'The provider ended its response with an error.',
        metadata: { error_type: 'provider_unavailable' },
      });
    }
    assert.match(text, /"cost":0,/);
    assert.match(text, /"attempt":1,/);
  }
});

test('survives an error of the first provider in a messages response', async (t) => {
  const { gateway } = await startTwoProviders(t, {
    adapter: 'messages-compatible',
    first: json(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    second: json(200, messagesAnswer('from the second')),
  });
  const response = await gateway.post('/messages', {
    model: 'acme/both',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'hi' }],
  });
  const answer = (await response.json()) as { content: { text: string }[]; provider: string };
  assert.equal(answer.content[0]?.text, 'from the second');
  assert.equal(answer.provider, 'Second');
});

// @spec fallback-3, money-11
test('serves the next model when every provider of the first failed, with fallback in the metadata', async (t) => {
  const { gateway } = await startTwoProviders(t, {
    first: json(500, {}),
    second: json(200, chatAnswer('second model')),
  });
  const response = await gateway.post(
    '/chat/completions',
    { model: 'acme/first', models: ['acme/second'], messages: [{ role: 'user', content: 'hi' }] },
    { 'x-service-metadata': 'Enabled' },
  );
  const answer = (await response.json()) as {
    model: string;
    service_metadata: { strategy: string; attempt: number; endpoints: { available: { selected: boolean }[] } };
  };
  assert.equal(answer.model, 'acme/second');
  assert.equal(answer.service_metadata.strategy, 'fallback');
  assert.equal(answer.service_metadata.attempt, 2);
  assert.deepEqual(
    answer.service_metadata.endpoints.available.map(({ selected }) => selected),
    [false, true],
  );
});

// @spec messages-11
test('serves the fallbacks of a messages request likewise', async (t) => {
  const { gateway } = await startTwoProviders(t, {
    adapter: 'messages-compatible',
    first: json(500, {}),
    second: json(200, messagesAnswer('second model')),
  });
  const response = await gateway.post('/messages', {
    model: 'acme/first',
    fallbacks: [{ model: 'acme/second' }],
    max_tokens: 10,
    messages: [{ role: 'user', content: 'hi' }],
  });
  assert.equal(((await response.json()) as { model: string }).model, 'acme/second');
});

// @spec fallback-4
test("moves from an upstream's 400 to the next model, not to another endpoint of the model", async (t) => {
  const { gateway, first, second } = await startTwoProviders(t, {
    first: json(400, { error: { message: 'bad request', code: 'invalid_value' } }),
    second: json(200, chatAnswer('second model')),
  });
  const messages = [{ role: 'user', content: 'hi' }];
  const refused = await gateway.post('/chat/completions', { model: 'acme/both', messages });
  assert.equal(refused.status, 400);
  assert.deepEqual([first.arrived.length, second.arrived.length], [1, 0]);
  const served = await gateway.post('/chat/completions', { model: 'acme/both', models: ['acme/second'], messages });
  assert.equal(served.status, 200);
});

for (const streaming of [true, false])
  // @spec route-3
  test(`makes exactly one attempt without fallbacks, stream: ${streaming}`, async (t) => {
    const { gateway, first, second } = await startTwoProviders(t, { first: json(500, {}) });
    const response = await gateway.post('/chat/completions', {
      model: 'acme/both',
      stream: streaming,
      provider: { allow_fallbacks: false },
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.equal(response.status, 502);
    await response.text();
    assert.deepEqual([first.arrived.length, second.arrived.length], [1, 0]);
  });

// @spec error-15
test('returns the last error when all attempts fail, and lists the others', async (t) => {
  const { gateway } = await startTwoProviders(t, {
    first: json(500, { error: { message: 'internal detail' } }),
    second: json(429, { error: { message: 'slow' } }, { 'retry-after': '7' }),
  });
  const response = await gateway.post('/chat/completions', {
    model: 'acme/both',
    stream: true,
    messages: [{ role: 'user', content: 'hi' }],
  });
  assert.equal(response.status, 429);
  assert.equal(response.headers.get('retry-after'), '7');
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  const { error } = (await response.json()) as {
    error: {
      code: number;
      metadata: { previous_errors: object[] };
      availability: { code: string; retry_after: number };
    };
  };
  assert.equal(error.code, 429);
  assert.deepEqual(error.metadata.previous_errors, [{ provider: 'first', code: 'provider_unavailable', status: 500 }]);
  assert.equal(error.availability.code, 'capacity_exhausted');
  assert.equal(error.availability.retry_after, 7);
});

// @spec error-16, error-19, fallback-18
test('honours Retry-After: leaves the endpoint until then, and returns an honest 503', async (t) => {
  const { gateway, first } = await startTwoProviders(t, {
    first: json(429, { error: { message: 'slow' } }, { 'retry-after': '30' }),
  });
  const ask = (): Promise<Response> =>
    gateway.post('/chat/completions', { model: 'acme/first', messages: [{ role: 'user', content: 'hi' }] });
  assert.equal((await ask()).status, 429);
  const again = await ask();
  assert.equal(again.status, 503);
  const wait = Number(again.headers.get('retry-after'));
  assert.ok(wait > 25 && wait <= 30, `retry-after ${wait}`);
  assert.equal(first.arrived.length, 1);
});

test('wakes only the first endpoint in cooldown after its wait', async (t) => {
  const { gateway, first, second } = await startTwoProviders(t, {
    first: json(429, { error: { message: 'slow' } }, { 'retry-after': '1' }),
    second: json(429, { error: { message: 'slower' } }, { 'retry-after': '30' }),
  });
  const ask = (): Promise<Response> =>
    gateway.post('/chat/completions', { model: 'acme/both', messages: [{ role: 'user', content: 'hi' }] });
  assert.equal((await ask()).status, 429);
  assert.equal((await ask()).status, 429);
  assert.deepEqual([first.arrived.length, second.arrived.length], [2, 1]);
});
