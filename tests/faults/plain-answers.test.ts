import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { CORS_HEADERS } from '../../src/http/cors.ts';
import { createLog } from '../../src/telemetry/logs.ts';
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../support/http/loopback-certificate.ts';
import { exchangeRaw, requestHead } from '../support/http/raw-http.ts';

test('returns 417, and 400 for a request without Host, as JSON in the shape of the path', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const cases = [
    [requestHead('POST /v1/chat/completions', 'Expect: nonsense', 'Content-Length: 2'), 417, undefined],
    [requestHead('POST /v1/messages', 'Expect: nonsense', 'Content-Length: 2'), 417, 'error'],
    ['GET /v1/models HTTP/1.1\r\n\r\n', 400, undefined],
    ['POST /v1/messages HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}', 400, 'error'],
  ] as const;
  for (const [head, status, type] of cases) {
    const answer = await exchangeRaw({ url: gateway.url, closes: true, send: (socket) => void socket.write(head) });
    assert.equal(answer.status, status);
    assert.match(answer.head, /\r\ncontent-type: application\/json/);
    const body = JSON.parse(answer.body) as { type?: string; error: { code: number } };
    assert.deepEqual([body.type, body.error.code], [type, status]);
  }
});

test('sends browsers restrictive headers', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const answers = [
    await fetch(`${gateway.baseUrl}/errors`),
    await fetch(`${gateway.baseUrl}/models/count`),
    await fetch(`${gateway.baseUrl}/keys`),
    await fetch(`${gateway.url}/nope`),
    await fetch(`${gateway.url}/health/live`),
    await fetch(`${gateway.url}/openapi.json`),
    await gateway.post('/chat/completions', {}),
    await gateway.post('/messages', {
      model: 'sandbox/echo',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'a' }],
    }),
  ];
  for (const { url, headers } of answers) {
    assert.equal(headers.get('x-content-type-options'), 'nosniff', url);
    assert.equal(headers.get('x-frame-options'), 'DENY', url);
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'.*frame-ancestors 'none'$/, url);
  }
});

test('sends browsers the same headers for bytes that are not HTTP', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  const large = `X-A: ${'a'.repeat(33 * 1_024)}`;
  const cases = [
    ['garbage\r\n\r\n', 400],
    ['GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\0b\r\n\r\n', 401],
    [`GET /v1/models HTTP/1.1\r\nHost: x\r\n${large}\r\n\r\n`, 413],
  ] as const;
  for (const [bytes, status] of cases) {
    const answer = await exchangeRaw({ url: gateway.url, send: (socket) => void socket.write(bytes) });
    assert.equal(answer.status, status);
    for (const [name, value] of Object.entries(CORS_HEADERS))
      assert.ok(answer.head.toLowerCase().includes(`\r\n${name}: ${value.toLowerCase()}`), `${status}: ${name}`);
  }
});

// @spec auth-3
test('uses the first of several Authorization headers', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  for (const [first, second, status] of [
    ['wrong', MANAGEMENT_KEY, 401],
    [MANAGEMENT_KEY, 'wrong', 200],
    [API_KEY, MANAGEMENT_KEY, 403],
  ] as const) {
    const head = requestHead('GET /v1/keys', `Authorization: Bearer ${first}`, `Authorization: Bearer ${second}`);
    const send = { url: gateway.url, closes: true, send: (socket: NodeJS.WritableStream) => void socket.write(head) };
    assert.equal((await exchangeRaw(send)).status, status);
  }
});

test('names a failed TLS handshake with a provider, and its cause in the log', async (t) => {
  const server = createServer({ cert: LOOPBACK_CERTIFICATE, key: LOOPBACK_KEY });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const lines: object[] = [];
  const note = (facts: object): void => void lines.push(facts);
  const gateway = await startGateway({
    log: { ...createLog('silent'), generations: { info: note, warn: note } },
    yaml: `
providers:
  alpha: { adapter: openai-compatible, base_url: 'https://127.0.0.1:${port}/v1', api_key: a }
models:
  acme/one: { endpoints: [{ provider: alpha, model: one, price: { prompt: 0, completion: 0 } }] }
`,
  });
  t.after(async () => {
    await gateway.close();
    server.close();
  });
  const response = await gateway.post('/chat/completions', {
    model: 'acme/one',
    messages: [{ role: 'user', content: 'a' }],
  });
  assert.equal(response.status, 502);
  assert.match(await response.text(), /TLS handshake with the provider failed: DEPTH_ZERO_SELF_SIGNED_CERT/);
  assert.match(JSON.stringify(lines), /"cause":"DEPTH_ZERO_SELF_SIGNED_CERT"/);
});
