import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
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

test('an answer has its status, its headers and all its bytes', async () => {
  const origin = await serve((request, response) => {
    response.writeHead(201, { 'X-Word': 'yes' });
    request.on('data', (chunk: Buffer) => response.write(chunk)).on('end', () => response.end('!'));
  });
  const answer = await get(origin, 'hello').answer;
  assert.equal(answer.status, 201);
  assert.equal(answer.headers['x-word'], 'yes');
  assert.equal(await readAll(answer), 'hello!');
});

test('a refused connection fails as connect', async () => {
  const origin = await serve(() => undefined);
  const server = servers.pop() as Server;
  await new Promise((closed) => server.close(closed));
  await assert.rejects(get(origin).answer, failsAs('connect'));
});

test('a connection that breaks before the headers, or between two reads, fails as reset', async () => {
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

test('what is not HTTP fails as a protocol error or a reset, and never throws elsewhere', async () => {
  const origin = await serve((_request, response) => response.socket?.end('garbage garbage\r\n\r\n'));
  await assert.rejects(get(origin).answer, TransportError);
});

test('cancelling fails a pending read at once and the upstream sees the connection close', async () => {
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

test('a call that is cancelled while it waits for a connection does not hold one for ever', async () => {
  const origin = await serve((_request, response) => response.end('ok'));
  const calls = Array.from({ length: 64 }, () => get(origin));
  for (const call of calls) call.cancel();
  for (const call of calls) await assert.rejects(call.answer, failsAs('aborted'));
  assert.equal((await get(origin).answer).status, 200);
});

test('a slow reader pauses the upstream instead of filling the memory', async () => {
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

test('a released answer that ends in time leaves its connection to the next request', async () => {
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

test('a released answer that goes on is dropped after its time', async () => {
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

test('whoever calls is told when the request goes out, and not where no connection is to be had', async () => {
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
