import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createHttpServer, type HttpServer } from './server.ts';
import { createUnreadResponses } from './unread-responses.ts';

const FAREWELL_MS = 2_000;

function openServer(): HttpServer {
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
