import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import { NodeCaller } from './node-caller.ts';

/** More than the kernel buffers for a reader that does not read. */
const MUCH = 'x'.repeat(32 * 1_024 * 1_024);
const format = {
  requestIdHeader: 'x-request-id',
  encodeError: (error: GatewayError) => ({ error: { message: error.message } }),
} as const;

interface Pair {
  readonly caller: NodeCaller;
  readonly response: ServerResponse;
  readonly reader: Socket;
}

async function connectReader(t: TestContext): Promise<Pair> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1');
  reader.on('error', () => undefined);
  t.after(async () => {
    reader.destroy();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  reader.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  return { caller: new NodeCaller(response, format), response, reader };
}

test('releases a writer that waits for a caller when the request is over', async (t) => {
  const { caller, response } = await connectReader(t);
  caller.startStream('gen-1');
  assert.equal(caller.write(MUCH), false);
  const over = new AbortController();
  let isLetGo = false;
  const drained = caller.drained(over.signal).then(() => (isLetGo = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(isLetGo, false);
  over.abort();
  await drained;
  assert.deepEqual([response.listenerCount('drain'), response.destroyed], [0, false]);
});

test('hands a large answer over at the pace of its reader, byte for byte', async (t) => {
  const { caller, response, reader } = await connectReader(t);
  const piece = Buffer.alloc(16 * 1_024 * 1_024, 'ab');
  let isOver = false;
  const over = caller.answerPieces('gen-1', [Buffer.from('['), piece, piece]).then(() => (isOver = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(isOver, false, 'its reader has taken nothing');
  assert.ok(response.writableLength < piece.length / 4, 'and hardly any of it waits in the socket');
  let bytes = 0;
  const ended = new Promise((resolve) => {
    reader.on('data', (chunk) => {
      bytes += chunk.length;
      if (bytes > 2 * piece.length) resolve(chunk);
    });
  });
  await over;
  await ended;
});

test('lets the rest of a large answer go when its caller leaves', async (t) => {
  const { caller, reader } = await connectReader(t);
  const over = caller.answerPieces('gen-1', [Buffer.alloc(32 * 1_024 * 1_024)]);
  setTimeout(() => reader.destroy(), 20);
  await over;
});
