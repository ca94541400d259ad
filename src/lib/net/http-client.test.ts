import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createHttpClient, TransportError, type Call, type InboundAnswer } from './http-client.ts';

const client = createHttpClient();
const servers: Server[] = [];
after(async () => {
  await client.close();
  for (const server of servers) server.closeAllConnections();
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function get(origin: string, body?: string): Call {
  return client.call({
    origin,
    path: '/',
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    connectTimeoutMs: 1_000,
    body: body ?? '',
  });
}

async function readAll(answer: InboundAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

const failsAs = (kind: TransportError['kind']) => (error: unknown) =>
  error instanceof TransportError && error.kind === kind;

test('returns status, headers and all bytes of a response', async () => {
  const origin = await serve((request, response) => {
    response.writeHead(201, { 'X-Word': 'yes' });
    request.on('data', (chunk: Buffer) => response.write(chunk)).on('end', () => response.end('!'));
  });
  const answer = await get(origin, 'hello').answer;
  assert.equal(answer.status, 201);
  assert.equal(answer.headers['x-word'], 'yes');
  assert.equal(await readAll(answer), 'hello!');
});

test('hands over at once a small response that has arrived with its end, and no other', async () => {
  const bodies: Readonly<Record<string, string | Buffer>> = {
    small: 'all of it',
    large: 'x'.repeat(5_000),
    encoded: gzipSync('all of it'),
  };
  const origin = await serve((request, response) => {
    const kind = String(request.headers['content-type']);
    if (kind === 'encoded') response.setHeader('content-encoding', 'gzip');
    if (kind === 'open') response.write('a part');
    else response.end(bodies[kind]);
  });
  const taken: Record<string, string | undefined> = {};
  for (const kind of [...Object.keys(bodies), 'open']) {
    const headers = { 'content-type': kind };
    const call = client.call({ origin, path: '/', method: 'POST', headers, connectTimeoutMs: 1_000 });
    const answer = await call.answer;
    await delay(50);
    const rest = answer.takeRest?.();
    taken[kind] = rest && Buffer.from(rest).toString('utf8');
    assert.equal(rest === undefined || answer.takeRest?.() === undefined, true);
    if (kind === 'open') call.cancel();
    else
      assert.equal(
        await readAll(answer),
        rest === undefined ? String(kind === 'large' ? bodies[kind] : 'all of it') : '',
      );
  }
  assert.deepEqual(taken, { small: 'all of it', large: undefined, encoded: undefined, open: undefined });
});

test('fails as connect where the connection is refused', async () => {
  const origin = await serve(() => undefined);
  const server = servers.pop() as Server;
  await new Promise((closed) => server.close(closed));
  await assert.rejects(get(origin).answer, failsAs('connect'));
});

test('fails as reset where the connection breaks before the headers or between two reads', async () => {
  const early = await serve((request) => request.socket.destroy());
  await assert.rejects(get(early).answer, failsAs('reset'));
  const late = await serve((_request, response) => {
    response.write('part');
    setTimeout(() => response.socket?.destroy(), 20);
  });
  const answer = await get(late).answer;
  assert.equal(Buffer.from((await answer.read()) as Uint8Array).toString(), 'part');
  await assert.rejects(answer.read(), failsAs('reset'));
});

test('fails as protocol error or reset where the response is not HTTP, and throws nowhere else', async () => {
  const origin = await serve((_request, response) => response.socket?.end('garbage garbage\r\n\r\n'));
  await assert.rejects(get(origin).answer, TransportError);
});

test('fails a pending read at once on cancel, and closes the connection', async () => {
  const closed = Promise.withResolvers<void>();
  const origin = await serve((_request, response) => {
    response.write('first');
    response.on('close', () => closed.resolve());
  });
  const call = get(origin);
  const answer = await call.answer;
  await answer.read();
  const pending = answer.read();
  call.cancel();
  await assert.rejects(pending, failsAs('aborted'));
  await closed.promise;
});

test('frees the connection of a call that was cancelled while it waited for one', async () => {
  const origin = await serve((_request, response) => response.end('ok'));
  const calls = Array.from({ length: 64 }, () => get(origin));
  for (const call of calls) call.cancel();
  for (const call of calls) await assert.rejects(call.answer, failsAs('aborted'));
  assert.equal((await get(origin).answer).status, 200);
});

const LARGE_BYTES = 8 * 1_024 * 1_024;

/** A client that has memory for one paused response, and a server of large ones. */
async function startBounded() {
  const bounded = createHttpClient({ pausedBytesMax: 1 });
  const origin = await serve((_request, response) => {
    response.on('error', () => undefined);
    response.end('x'.repeat(LARGE_BYTES));
  });
  const begin = (): Call =>
    bounded.call({ origin, path: '/', method: 'POST', headers: {}, connectTimeoutMs: 1_000, body: '' });
  const read = async (call: Call): Promise<number> => (await readAll(await call.answer)).length;
  return { bounded, begin, read };
}

test('drops a paused response that nothing reads where another one needs its memory, and not one that waits for memory', async () => {
  const { bounded, begin, read } = await startBounded();
  const kept = begin();
  (await kept.answer).isKept = true;
  const unread = begin();
  await unread.answer;
  await delay(300);
  const answer = await begin().answer;
  await delay(100);
  await assert.rejects(read(unread), failsAs('no-memory'));
  assert.equal((await readAll(answer)).length, LARGE_BYTES);
  assert.equal(await read(kept), LARGE_BYTES);
  await bounded.close();
});

test('counts a paused response no more once it was read or cancelled', async () => {
  const { bounded, begin, read } = await startBounded();
  for (let round = 0; round < 5; round++) {
    const cancelled = begin();
    await cancelled.answer;
    await delay(50);
    cancelled.cancel();
    assert.equal(await read(begin()), LARGE_BYTES);
  }
  await bounded.close();
});

test('fails a read that waits where its call is cancelled, whether or not all bytes had arrived', async () => {
  const origin = await serve((_request, response) => void response.end('x'.repeat(20_000)));
  const call = get(origin);
  const answer = await call.answer;
  await delay(50);
  call.cancel();
  await assert.rejects(answer.read(), failsAs('aborted'));
});

test('pauses the upstream for a slow reader instead of filling the memory', async () => {
  let sent = 0;
  const block = Buffer.alloc(64 * 1_024, 'x');
  const origin = await serve((_request, response) => {
    const push = (): void => {
      while (sent < 64 * 1_024 * 1_024) {
        sent += block.length;
        if (!response.write(block)) {
          response.once('drain', push);
          return;
        }
      }
      response.end();
    };
    push();
  });
  const answer = await get(origin).answer;
  let before = -1;
  while (before !== sent) {
    before = sent;
    await delay(50);
  }
  assert.ok(sent < 32 * 1_024 * 1_024, `the upstream could send ${sent} bytes`);
  assert.equal((await readAll(answer)).length, 64 * 1_024 * 1_024);
});

test('reuses the connection of a released response that ends in time', async () => {
  const ports = new Set<number | undefined>();
  let sent = Promise.withResolvers<void>();
  const origin = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    response.write('all that counts');
    response.once('finish', sent.resolve);
    setTimeout(() => response.end('a farewell'), 20);
  });
  for (let request = 0; request < 3; request++) {
    sent = Promise.withResolvers<void>();
    const call = get(origin);
    await (await call.answer).read();
    call.release(5_000);
    await sent.promise;
    // What was sent is read in the next turn of the event loop, however late that comes.
    await delay(60);
  }
  assert.equal(ports.size, 1);
});

test('drops a released response that does not end in time', async () => {
  const closed = Promise.withResolvers<void>();
  const origin = await serve((_request, response) => {
    response.on('close', () => closed.resolve());
    const timer = setInterval(() => response.write('more'), 5);
    response.on('close', () => clearInterval(timer));
  });
  const call = get(origin);
  await (await call.answer).read();
  call.release(30);
  await closed.promise;
});

test('calls onSent when the request goes out, and not without a connection', async () => {
  const origin = await serve((_request, response) => void response.end('yes'));
  const request = { origin, path: '/', method: 'GET', headers: {}, connectTimeoutMs: 1_000 } as const;
  let sent = 0;
  const call = client.call(request, () => void sent++);
  assert.equal(sent, 0);
  await readAll(await call.answer);
  assert.equal(sent, 1);

  const gone = await serve(() => undefined);
  await new Promise((closed) => (servers.pop() as Server).close(closed));
  await assert.rejects(client.call({ ...request, origin: gone }, () => void sent++).answer, failsAs('connect'));
  const early = client.call(request, () => void sent++);
  early.cancel();
  await assert.rejects(early.answer, failsAs('aborted'));
  assert.equal(sent, 1);
});

test('retires the least recently used pool beyond the bound, and none in use', async () => {
  let connections = 0;
  const origin = await serve((_request, response) => response.end('ok'));
  servers.at(-1)?.on('connection', () => connections++);
  const use = async (): Promise<string> => readAll(await get(origin).answer);
  await use();
  for (let other = 0; other < 300; other++) {
    // Whether anything listens there does not matter: each origin has a pool of its own.
    const call = get(`http://127.0.0.1:${other + 1}`);
    await call.answer.catch(() => undefined);
    call.cancel();
    if (other % 100 === 0) await use();
  }
  await use();
  assert.equal(connections, 1);
});

test('sends a source with its length, and once more from its beginning', async () => {
  const received: string[] = [];
  const origin = await serve((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        received.push(`${request.headers['content-length']} ${Buffer.concat(chunks).toString()}`);
        response.end();
      });
  });
  const source = {
    bytes: 6,
    async *chunks() {
      yield Buffer.from('abc');
      yield await Promise.resolve(Buffer.from('def'));
    },
  };
  const request = { origin, path: '/', method: 'POST', headers: {}, connectTimeoutMs: 1_000, source } as const;
  await readAll(await client.call(request).answer);
  await readAll(await client.call(request).answer);
  assert.deepEqual(received, ['6 abcdef', '6 abcdef']);
});

test('fails as reset where a source breaks off or has another length', async () => {
  const origin = await serve((request, response) => request.resume().on('end', () => response.end()));
  const broken = {
    bytes: 6,
    async *chunks() {
      yield await Promise.resolve(Buffer.from('abc'));
      throw new Error('The file is closed.');
    },
  };
  const short = {
    bytes: 6,
    async *chunks() {
      yield await Promise.resolve(Buffer.from('abc'));
    },
  };
  for (const source of [broken, short])
    await assert.rejects(
      client.call({ origin, path: '/', method: 'POST', headers: {}, connectTimeoutMs: 1_000, source }).answer,
      failsAs('reset'),
    );
});
