import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { suite, test } from 'node:test';
import { API_KEY, MANAGEMENT_KEY, startGateway } from '../support/gateway.ts';

/** Sends bytes as they are and gives what comes back until the gateway closes the connection. */
function exchange(url: string, bytes: string | Buffer): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const received: Buffer[] = [];
    socket.on('data', (chunk) => received.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const [head = '', body = ''] = Buffer.concat(received).toString('utf8').split('\r\n\r\n', 2);
      resolve({ status: Number(head.split(' ')[1]), body });
    });
    socket.write(bytes);
  });
}

function requestWith(path: string, header: string, body = '{}'): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${header}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    'latin1',
  );
}

const hostileKeys: Readonly<Record<string, string>> = {
  '16 KB': 'x'.repeat(16 * 1_024),
  'a NUL byte': 'sk-a\0b',
  'a control character': 'sk-a\x07b',
  'letters beyond ASCII': 'sk-\xe9\xfc\xff',
  SQL: "sk-x' UNION SELECT key FROM keys; DROP TABLE keys; --",
  'two schemes': `Bearer ${API_KEY}`,
  nothing: '',
};

for (const [name, key] of Object.entries(hostileKeys))
  // @spec auth-4
  test(`returns 401 for an Authorization with ${name} on both routes, in their own shapes`, async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const chat = await exchange(gateway.url, requestWith('/v1/chat/completions', `Authorization: Bearer ${key}`));
    assert.equal(chat.status, 401);
    assert.equal((JSON.parse(chat.body) as { error: { code: number } }).error.code, 401);
    const messages = await exchange(gateway.url, requestWith('/v1/messages', `x-api-key: ${key}`));
    assert.equal(messages.status, 401);
    const body = JSON.parse(messages.body) as { type: string; error: { type: string; code: number } };
    assert.deepEqual([body.type, body.error.type, body.error.code], ['error', 'authentication_error', 401]);
  });

test('keeps the connection open after it refuses a body that came with its headers', async (t) => {
  const gateway = await startGateway();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => {
    agent.destroy();
    return gateway.close();
  });
  const send = (body: string): Promise<readonly [number | undefined, number | undefined]> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${API_KEY}`, 'content-length': body.length };
      const requested = request(`${gateway.baseUrl}/chat/completions`, { method: 'POST', agent, headers }, (answer) => {
        const { localPort } = answer.socket;
        answer.resume().on('end', () => resolve([answer.statusCode, localPort]));
      });
      // In one write, which reaches the gateway in one read.
      requested.on('error', reject).end(body);
    });
  const stated = '{"model":"sandbox/echo","messages":[{"role":"user","content":"still there"}]}';
  const answers = [await send('{nonsense'), await send('{}'), await send(stated)];
  assert.deepEqual(
    answers.map(([status]) => status),
    [400, 400, 200],
  );
  assert.equal(new Set(answers.map(([, port]) => port)).size, 1);
});

// @spec error-27
test('returns a 400 in JSON for bytes that are not HTTP, and serves the next caller', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.close());
  for (const bytes of [
    'nonsense\r\n\r\n',
    'POST /v1/chat/completions HTTP/9.9\r\n\r\n',
    Buffer.from([0x16, 3, 1, 0, 5]),
  ]) {
    const { status, body } = await exchange(gateway.url, bytes);
    assert.equal(status, 400);
    assert.equal((JSON.parse(body) as { error: { code: number } }).error.code, 400);
  }
  const response = await gateway.post('/chat/completions', {
    model: 'sandbox/echo',
    messages: [{ role: 'user', content: 'still there' }],
  });
  assert.equal(response.status, 200);
});

for (const path of ['//v1/chat/completions', '/v1/chat/%63ompletions', '/v1/../v1/keys', '/V1/keys', '/v1/keys/%2e%2e'])
  test(`opens nothing without a key at the odd path ${path}`, async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const { status } = await exchange(gateway.url, requestWith(path, 'Host: evil.example'));
    assert.ok(status === 401 || status === 404 || status === 400, String(status));
  });

suite('a body that is no JSON', () => {
  const PATHS: Readonly<Record<string, string>> = {
    '/chat/completions': API_KEY,
    '/messages': API_KEY,
    '/responses': API_KEY,
    '/embeddings': API_KEY,
    '/keys': MANAGEMENT_KEY,
  };
  const latin1 = Buffer.from('{"model": "sandbox/echo", "name": "\xe9"}', 'latin1');
  const BODIES: readonly (readonly [string, string | Buffer, RegExp])[] = [
    ['Latin-1', latin1, /^The request body is not UTF-8\. Send JSON in UTF-8\.$/],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), /^The request body is not UTF-8/],
    ['cut off', '{"model": ["x"', /^The request body is not valid JSON: expected .* at position 14\.$/],
    ['without quotes', '{"model": 1, name: 2}', /^The request body is not valid JSON: expected .* at position 13\.$/],
    ['that ends at once', '{"model":', /^The request body is not valid JSON: unexpected end of JSON input\.$/],
    ['quoted by a word', '{"model": at position 7}', /^The request body is not valid JSON: unexpected token 'a'\.$/],
    ['without a value', '{"model":}', /^The request body is not valid JSON: unexpected token '\}'\.$/],
  ];
  for (const [path, key] of Object.entries(PATHS))
    // @spec request-1, request-38
    test(`is refused with the place or the reason: ${path}`, async (t) => {
      const gateway = await startGateway();
      t.after(() => gateway.close());
      for (const [what, body, message] of BODIES) {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json; charset=iso-8859-1' };
        const response = await fetch(gateway.baseUrl + path, { method: 'POST', headers, body });
        const { error } = (await response.json()) as { error: { message: string } };
        assert.equal(response.status, 400, what);
        assert.match(error.message, message, what);
      }
    });

  // @spec request-38
  test('is taken with a byte order mark before it', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    const text = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'h\u00e9' }] });
    const headers = { authorization: `Bearer ${API_KEY}` };
    const body = Buffer.from(`\ufeff${text}`);
    const response = await fetch(`${gateway.baseUrl}/chat/completions`, { method: 'POST', headers, body });
    const { choices } = (await response.json()) as { choices?: { message: { content: string } }[] };
    assert.equal(choices?.[0]?.message.content, 'h\u00e9');
  });

  // @spec request-38
  test('is said to be empty on a route that needs one', async (t) => {
    const gateway = await startGateway();
    t.after(() => gateway.close());
    for (const body of ['', ' \n']) {
      const headers = { authorization: `Bearer ${API_KEY}` };
      const response = await fetch(`${gateway.baseUrl}/messages`, { method: 'POST', headers, body });
      const { error } = (await response.json()) as { error: { message: string } };
      assert.equal(error.message, 'The request body is empty. Send a JSON object.');
    }
  });
});
