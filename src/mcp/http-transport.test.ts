import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite, test, type TestContext } from 'node:test';
import { createByteBudget, type ByteBudget } from '../lib/memory/byte-budget.ts';
import { createMcpAgent, openHttpTransport } from './http-transport.ts';

/** More than one message may be. */
const PIECES = 12;
const PIECE = `${' '.repeat(1_048_574)}\n\n`;
const ANSWER = JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} });

/** Calls a server that sends this many empty pieces before its response. */
async function ask(
  t: TestContext,
  contentType: string,
  [piece, answer]: readonly [piece: string, answer: string],
  memory?: ByteBudget,
): Promise<unknown> {
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
  const settings = { transport: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {} } as const;
  const transport = openHttpTransport({ settings, agent, memory });
  await transport.start();
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  // The library has members for these, and no listeners.
  Object.assign(transport, { onmessage: resolve, onerror: reject });
  t.after(() => transport.close());
  transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' }).catch(reject);
  return promise;
}

suite('a message of a server is bounded', () => {
  test('reads a response that is no stream as one message, whatever empty lines it has', async (t) => {
    await assert.rejects(ask(t, 'application/json', [PIECE, ANSWER]), /too long/);
  });

  test('reads a stream of any length, event by event', async (t) => {
    const event = `: ${PIECE}`;
    const stated = await ask(t, 'text/event-stream', [event, `event: message\ndata: ${ANSWER}\n\n`]);
    assert.deepEqual(stated, JSON.parse(ANSWER));
  });
});

suite('the memory for messages', () => {
  const MB = 1_048_576;
  const small = ' '.repeat(65_536);

  test('is taken while a message comes, and given back when it is there', async (t) => {
    const memory = createByteBudget({ bytesMax: 8 * MB, waitMs: 5, waitingMax: 1 });
    assert.deepEqual(await ask(t, 'application/json', [small, ANSWER], memory), JSON.parse(ANSWER));
    assert.equal(memory.taken, 0);
  });

  test('ends a message that does not fit, and is given back', async (t) => {
    const memory = createByteBudget({ bytesMax: MB, waitMs: 5, waitingMax: 1 });
    await assert.rejects(ask(t, 'application/json', [small, ANSWER], memory), /memory/);
    assert.equal(memory.taken, 0);
  });

  test('is given back between the events of a stream', async (t) => {
    const memory = createByteBudget({ bytesMax: 8 * MB, waitMs: 5, waitingMax: 1 });
    const answer = `event: message\ndata: ${ANSWER}\n\n`;
    assert.deepEqual(await ask(t, 'text/event-stream', [`: ${PIECE}`, answer], memory), JSON.parse(ANSWER));
    assert.equal(memory.taken, 0);
  });
});
