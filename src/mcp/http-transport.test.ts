import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test, type TestContext } from 'node:test';
import { createMcpAgent, openHttpTransport } from './http-transport.ts';

/** More than one message may be. */
const PIECES = 12;
const PIECE = `${' '.repeat(1_048_574)}\n\n`;
const ANSWER = JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} });

/** Asks a server that says so many pieces of nothing before its answer. */
async function ask(t: TestContext, contentType: string, piece: string, answer: string): Promise<unknown> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': contentType });
    for (let count = 0; count < PIECES; count++) response.write(piece);
    response.end(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = createMcpAgent();
  t.after(async () => {
    await agent.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const transport = openHttpTransport({ transport: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {} }, agent);
  await transport.start();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  // The library has members for these, and no listeners.
  Object.assign(transport, { onmessage: resolve, onerror: reject });
  t.after(() => transport.close());
  transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' }).catch(reject);
  return promise;
}

suite('a message of a server is bounded', () => {
  test('an answer that is no stream is one message, whatever empty lines are in it', async (t) => {
    await assert.rejects(ask(t, 'application/json', PIECE, ANSWER), /too long/);
  });

  test('a stream may be as long as it likes, event by event', async (t) => {
    const event = `: ${PIECE}`;
    const said = await ask(t, 'text/event-stream', event, `event: message\ndata: ${ANSWER}\n\n`);
    assert.deepEqual(said, JSON.parse(ANSWER));
  });
});
