import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { suite, test } from 'node:test';
import { brotliCompressSync } from 'node:zlib';
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';
import { exchangeRaw, requestHead } from '../support/http/raw-http.ts';

const KEY = `Authorization: Bearer ${API_KEY}`;
const MANAGER = `Authorization: Bearer ${MANAGEMENT_KEY}`;
const HALF = 'Content-Length: 4000';
const MB = 1_048_576;

suite('time', { concurrency: true }, () => {
  const halfBodies: readonly (readonly [line: string, headers: readonly string[], status: number])[] = [
    ['POST /v1/auth/keys', [HALF], 408],
    ['POST /v1/auth/keys', ['Transfer-Encoding: chunked'], 408],
    ['POST /v1/keys', [MANAGER, HALF], 408],
    ['POST /v1/presets/one/chat/completions', [KEY, HALF], 408],
    ['POST /v1/messages', [KEY, HALF], 408],
    ['POST /v1/messages/count_tokens', [KEY, HALF], 408],
    ['POST /v1/route/explain', [KEY, HALF], 408],
    ['POST /v1/credits/coinbase', [HALF], 410],
    ['DELETE /v1/keys/abc', [MANAGER, HALF], 404],
    ['POST /nope', [HALF], 404],
    ['GET /v1/models', [HALF], 200],
    ['GET /health/live', [HALF], 200],
    ['OPTIONS /v1/models', [HALF], 204],
    ['HEAD /', [HALF], 200],
  ];
  for (const [line, headers, status] of halfBodies)
    test(`closes ${line} with half a body (${headers.at(-1)})`, async (t) => {
      const gateway = await startGateway({ bodyLimits: { idleMs: 300, totalMs: 300 } });
      t.after(() => gateway.close());
      const send = (socket: Socket): void => void socket.write(`${requestHead(line, ...headers)}1\r\n{`);
      const answer = await exchangeRaw({ url: gateway.url, send });
      assert.equal(answer.status, status, answer.head);
      assert.ok(answer.tookMs < 60_000, `${answer.tookMs} ms`);
    });

  test('ends a small body that comes byte by byte', async (t) => {
    const gateway = await startGateway({ bodyLimits: { idleMs: 300, totalMs: 1_000 } });
    t.after(() => gateway.close());
    const answer = await exchangeRaw({
      url: gateway.url,
      send(socket) {
        socket.write(requestHead('POST /v1/auth/keys', HALF));
        const timer = setInterval(() => socket.write(' '), 50);
        socket.once('close', () => clearInterval(timer));
      },
    });
    assert.equal(answer.status, 408);
    assert.ok(answer.tookMs < 60_000, `${answer.tookMs} ms`);
  });

  test('returns 408 for unfinished headers after 10 s', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const answer = await exchangeRaw({
      url: gateway.url,
      send(socket) {
        socket.write('POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-A: ');
      },
    });
    assert.equal(answer.status, 408);
    assert.ok(answer.tookMs > 9_500 && answer.tookMs < 60_000, `${answer.tookMs} ms`);
  });
});

suite('size', () => {
  test('returns 413 for more than 4 KB where no key is needed', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const exchange = (body: string): Promise<Response> =>
      fetch(`${gateway.baseUrl}/auth/keys`, { method: 'POST', body });
    assert.equal((await exchange(JSON.stringify({ code: 'x'.repeat(5_000) }))).status, 413);
    assert.equal((await exchange(JSON.stringify({ code: 'x'.repeat(100) }))).status, 403);
  });

  test('returns 413 for more than 32 KB of headers, however many follow', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    for (const kilobytes of [33, 500]) {
      const send = (socket: Socket): void =>
        void socket.write(requestHead('GET /v1/models', `X-A: ${'a'.repeat(kilobytes * 1_024)}`));
      const { status, body } = await exchangeRaw({ url: gateway.url, send, readsLate: kilobytes > 100 });
      assert.equal(status, 413, `${kilobytes} KB`);
      assert.equal((JSON.parse(body) as { error: { code: number } }).error.code, 413);
    }
    const headers = { 'x-a': 'a'.repeat(30 * 1_024) };
    assert.equal((await fetch(`${gateway.baseUrl}/models/count`, { headers })).status, 200);
  });
});

suite('early responses', { concurrency: 2 }, () => {
  const bytes = Buffer.alloc(40 * MB, 'x');
  const early: readonly (readonly [line: string, header: string, status: number, body: Buffer])[] = [
    ['POST /v1/chat/completions', KEY, 413, bytes],
    ['POST /v1/chat/completions', 'X-No: key', 401, bytes.subarray(0, 8 * MB)],
    ['POST /v1/messages', `x-api-key: ${MANAGEMENT_KEY}`, 403, bytes.subarray(0, 8 * MB)],
    ['POST /v1/keys', 'X-No: key', 401, bytes.subarray(0, 8 * MB)],
    ['POST /v1/keys', MANAGER, 413, bytes.subarray(0, 8 * MB)],
    ['POST /v1/files', 'X-No: key', 401, bytes.subarray(0, 8 * MB)],
    ['POST /v1/auth/keys', 'X-No: key', 413, bytes.subarray(0, 8 * MB)],
    ['POST /v1/nope', KEY, 404, bytes.subarray(0, 8 * MB)],
  ];
  for (const [line, header, status, body] of early)
    for (const framing of ['Content-Length', 'Transfer-Encoding'])
      test(`deliver ${status} of ${line} to a caller that sends ${body.length} bytes first (${framing})`, async (t) => {
        const gateway = await startGateway();
        t.after(() => gateway.close());
        const isChunked = framing === 'Transfer-Encoding';
        const frame = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
        for (let round = 0; round < 3; round++) {
          const answer = await exchangeRaw({
            url: gateway.url,
            readsLate: true,
            closes: true,
            send(socket) {
              socket.write(requestHead(line, header, 'Content-Type: application/json', frame));
              if (isChunked) socket.write(`${body.length.toString(16)}\r\n`);
              socket.write(body);
              if (isChunked) socket.write('\r\n0\r\n\r\n');
            },
          });
          assert.deepEqual([answer.status, answer.wasReset], [status, false]);
          assert.ok(answer.body.includes(`"code":${status}`), answer.body.slice(0, 200));
        }
      });

  test('treat nothing after such a body as a request', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const { head, body } = await exchangeRaw({
      url: gateway.url,
      send: (socket) =>
        void socket.write(
          `${requestHead('POST /v1/chat/completions', 'Content-Length: 500000')}${'x'.repeat(500_000)}` +
            requestHead('GET /v1/models/count'),
        ),
    });
    assert.match(head, /^HTTP\/1\.1 401 /);
    assert.equal(body.split('HTTP/1.1').length, 1);
  });
});

suite('memory', () => {
  const small = { GATEWAY_MEMORY_LIMIT_MB: '512' };
  const chat = (content: string): object => ({ model: 'sandbox/echo', messages: [{ role: 'user', content }] });

  // @spec request-5
  test('returns 503 with Retry-After for bodies beyond the share of a key, and serves others', async (t) => {
    const gateway = await startGateway({ env: small, bodyLimits: { idleMs: 2_000 } });
    t.after(() => gateway.close());
    const made = await fetch(`${gateway.baseUrl}/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
      body: JSON.stringify({ name: 'another' }),
    });
    const { key: other } = (await made.json()) as { key: string };
    // Inflates to 8 MB, of which the end never comes.
    const bomb = brotliCompressSync(Buffer.alloc(8 * MB, ' '));
    const send = (socket: Socket): void => {
      socket.write(
        requestHead('POST /v1/chat/completions', KEY, 'Content-Encoding: br', `Content-Length: ${bomb.length + 9}`),
      );
      socket.write(bomb);
    };
    const bombs = Array.from({ length: 8 }, () => exchangeRaw({ url: gateway.url, send }));
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (let round = 0; round < 10; round++) {
      const headers = { authorization: `Bearer ${other}` };
      assert.equal((await gateway.post('/chat/completions', chat('still there'), headers)).status, 200);
    }
    const answers = await Promise.all(bombs);
    const refused = answers.filter(({ status }) => status === 503);
    assert.ok(refused.length >= 5, answers.map(({ status }) => status).join(' '));
    for (const { head } of refused) assert.match(head, /\r\nretry-after: \d+\r\n/i);
    // What was taken is free again.
    assert.equal((await gateway.post('/chat/completions', chat('x'.repeat(2 * MB)))).status, 200);
  });

  // @spec request-5
  test('returns 413 for a body that can never fit under a small limit', async (t) => {
    const gateway = await startGateway({ env: small });
    t.after(() => gateway.close());
    assert.equal((await gateway.post('/chat/completions', chat('x'.repeat(20 * MB)))).status, 413);
  });

  test('closes connections without a request when there are too many', async (t) => {
    const gateway = await startGateway({ env: { GATEWAY_MEMORY_LIMIT_MB: '256' } });
    const sockets: Socket[] = [];
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      return gateway.close();
    });
    for (let index = 0; index < 1_000; index++) {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write('GET /v1/models HTTP/1.1\r\nX-A: ');
      sockets.push(socket);
    }
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    assert.equal((await gateway.post('/chat/completions', chat('still there'))).status, 200);
    const countLeft = (): number =>
      sockets.filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded).length;
    while (countLeft() >= 600) await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(countLeft() > 100, `${countLeft()} are left`);
  });
});
