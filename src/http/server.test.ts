import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createHttpServer, type HttpServer, type ServerOptions } from './server.ts';
import { createUnreadResponses } from './unread-responses.ts';

const FAREWELL_MS = 2_000;

function openServer(more: Partial<ServerOptions> = {}): HttpServer {
  const server: HttpServer = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    generation: { '/ask': (_request, response) => Promise.resolve(void response.end('answered')) },
    mount(fastify) {
      fastify.get('/ready', (_request, reply) => reply.code(server.draining ? 503 : 200).send());
    },
    serializeError: () => ({}),
    connectionsMax: 100,
    unread: createUnreadResponses({ bytesMax: 1_000_000 }),
    onBug: (error) => assert.fail(String(error)),
    ...more,
  });
  return server;
}

test('is not ready while it closes, and serves late requests before its port closes', async () => {
  const server = openServer();
  const { port } = await server.listen();
  const url = `http://127.0.0.1:${port}`;
  assert.equal((await fetch(`${url}/ready`)).status, 200);
  const closed = server.close({ farewellMs: FAREWELL_MS, drainMs: 100 });
  assert.equal((await fetch(`${url}/ready`)).status, 503);
  for (let caller = 0; caller < 3; caller++) {
    const response = await fetch(`${url}/v1/ask`, { method: 'POST', body: '{}' });
    assert.deepEqual([response.status, await response.text()], [200, 'answered']);
    assert.equal(response.headers.get('connection'), 'close');
  }
  await closed;
  const refused = await new Promise((resolve) => {
    connect(port, '127.0.0.1')
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      .once('connect', () => resolve('connected'));
  });
  assert.equal(refused, 'ECONNREFUSED');
});

test('answers 408 and closes when a body takes longer than any may, on a route without a clock of its own', async (t) => {
  const server = openServer({
    requestMs: 1_000,
    generation: { '/ask': async (request) => void (await text(request).catch(() => '')) },
  });
  t.after(() => server.close({ farewellMs: 0, drainMs: 0 }));
  const { port } = await server.listen();
  const socket = connect(port, '127.0.0.1');
  socket.write('POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf of it');
  assert.match(await text(socket), /^HTTP\/1\.1 408 /);
});

test('lets an answer take longer than its request may', async (t) => {
  const server = openServer({
    requestMs: 1_000,
    generation: {
      '/ask': async (request, response) => {
        await text(request);
        await wait(2_500);
        response.end('late');
      },
    },
  });
  t.after(() => server.close({ farewellMs: 0, drainMs: 0 }));
  const { port } = await server.listen();
  const response = await fetch(`http://127.0.0.1:${port}/v1/ask`, { method: 'POST', body: '{}' });
  assert.equal(await response.text(), 'late');
});
