import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { gzipSync, brotliCompressSync } from 'node:zlib';
import { MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatAnswer, json } from '../support/upstream.ts';

const messages = [{ role: 'user', content: 'hi' }];

/** An upstream's answer and the status that the caller gets. */
const upstreamStatuses: readonly [upstream: number, caller: number][] = [
  [400, 400],
  [401, 502],
  [403, 502],
  [404, 404],
  [413, 413],
  [422, 422],
  [429, 429],
  [451, 403],
  [500, 502],
  [503, 502],
  [504, 524],
  [529, 529],
];

for (const [upstream, status] of upstreamStatuses)
  // @spec error-9, error-11, error-13
  test(`maps an upstream's ${upstream} to ${status} on both routes, in the shape of each`, async (t) => {
    const { gateway } = await startTwoProviders(t, { first: json(upstream, { error: { message: 'as it is' } }) });
    const chat = await gateway.post('/chat/completions', { model: 'acme/first', messages });
    assert.equal(chat.status, status);
    const chatBody = (await chat.json()) as { error: { code: number; message: string } };
    assert.equal(chatBody.error.code, status);
    assert.ok(chat.headers.get('x-generation-id')?.startsWith('gen-'));
    const other = await gateway.post('/messages', { model: 'acme/second', max_tokens: 5, messages });
    assert.equal(other.status, 502);
    const body = (await other.json()) as { type: string; error: { type: string; code: number }; request_id: string };
    assert.deepEqual([body.type, body.error.code], ['error', 502]);
    assert.equal(body.error.type, 'api_error');
    assert.equal(body.request_id, other.headers.get('x-generation-id'));
  });

// @spec request-1
test('returns 400 with the path of the field for invalid JSON and schema violations', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  for (const body of ['{', '', '[]', 'null'])
    assert.equal((await gateway.post('/chat/completions', body)).status, 400, body);
  const plain = await gateway.post(
    '/chat/completions',
    { model: 'sandbox/echo', messages },
    { 'content-type': 'text/plain' },
  );
  assert.equal(plain.status, 200, 'whatever its type is called');
  const bad = await gateway.post('/chat/completions', {
    model: 'sandbox/echo',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'x' },
          { type: 'image_url', image_url: { url: 7 } },
        ],
      },
    ],
  });
  assert.equal(bad.status, 400);
  const { error } = (await bad.json()) as { error: { code: number; metadata: { issues: { path: string }[] } } };
  assert.equal(error.metadata.issues[0]?.path, 'messages[0].content[1].image_url.url');
});

// @spec auth-6, auth-18
test('returns 401 without a valid key, and 403 for a management key, before it reads the body', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  for (const path of ['/chat/completions', '/messages']) {
    const none = await fetch(gateway.baseUrl + path, { method: 'POST', body: '{' });
    assert.equal(none.status, 401);
    const wrong = await gateway.post(path, '{', { authorization: 'Bearer nonsense' });
    assert.equal(wrong.status, 401);
    const management = await gateway.post(path, '{', { authorization: `Bearer ${MANAGEMENT_KEY}` });
    assert.equal(management.status, 403);
    const body = (await management.json()) as { type?: string; error: { code: number; type?: string } };
    assert.equal(body.error.code, 403);
    assert.equal(body.type, path === '/messages' ? 'error' : undefined);
  }
});

// @spec model-1, model-2
test('returns 404 with a suggestion for an unknown model, 400 for a malformed slug or an unknown suffix', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const unknown = await gateway.post('/chat/completions', { model: 'sandboks/echo', messages });
  assert.equal(unknown.status, 404);
  const { error } = (await unknown.json()) as { error: { message: string; availability: { code: string } } };
  assert.match(error.message, /sandbox\/echo/);
  assert.equal(error.availability.code, 'model_not_found');
  assert.equal((await gateway.post('/chat/completions', { model: 'no-slash', messages })).status, 400);
});

// @spec request-4
test('returns 408 for a body that arrives too slowly', async (t) => {
  const gateway = await startGateway({ bodyLimits: { idleMs: 200 } });
  t.after(() => gateway.close());
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.write(
    'POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-normal-key-0123456789abcdef\r\n' +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"model":',
  );
  const [first] = (await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])))) as [
    Buffer,
  ];
  assert.match(first.toString(), /^HTTP\/1\.1 408 /);
  socket.destroy();
});

// @spec request-2
test('returns 413 for a declared size over the limit before it reads a byte, and after inflation', async (t) => {
  const gateway = await startGateway({ yaml: 'server: { max_body_mb: 1 }' });
  t.after(() => gateway.close());
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.write(
    'POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-normal-key-0123456789abcdef\r\n' +
      'Content-Length: 2000000\r\nExpect: 100-continue\r\n\r\n',
  );
  const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
  assert.match(first.toString(), /^HTTP\/1\.1 413 /);
  socket.destroy();
  const bomb = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'x'.repeat(2_000_000) }] });
  for (const [encoding, body] of [
    ['gzip', gzipSync(bomb)],
    ['br', brotliCompressSync(bomb)],
  ] as const) {
    const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer test-normal-key-0123456789abcdef', 'content-encoding': encoding },
      body: new Uint8Array(body),
    });
    assert.equal(response.status, 413);
    await response.text();
  }
});

// @spec request-3
test('reads a compressed body within the limit', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer test-normal-key-0123456789abcdef', 'content-encoding': 'gzip' },
    body: new Uint8Array(gzipSync(JSON.stringify({ model: 'sandbox/echo', messages }))),
  });
  assert.equal(response.status, 200);
});

// @spec auth-20
test('finishes a request in flight during shutdown', async (t) => {
  const { gateway, first } = await startTwoProviders(t, {
    first: (_arrived, response) => {
      setTimeout(() => void json(200, chatAnswer('late'))(_arrived, response, response.req), 300);
    },
  });
  const slow = gateway.post('/chat/completions', { model: 'acme/first', messages });
  while (first.arrived.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const closing = gateway.app.close();
  const answer = await slow;
  assert.equal(answer.status, 200, 'what was in flight finishes');
  await answer.text();
  await closing;
});
