import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import type { Caller } from '../../pipeline/caller.ts';
import { createNodeCaller } from './node-caller.ts';

/** More than the kernel takes for a reader who reads nothing. */
const MUCH = 'x'.repeat(32 * 1_024 * 1_024);
const UNTAKEN_MS = 100;
const format = {
  requestIdHeader: 'x-request-id',
  encodeError: (error: GatewayError) => ({ error: { message: error.message } }),
} as const;

interface Pair {
  readonly caller: Caller;
  readonly response: ServerResponse;
  /** The other end, which reads nothing until it is resumed. */
  readonly reader: Socket;
}

async function connectReader(t: TestContext, untakenMs = UNTAKEN_MS): Promise<Pair> {
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
  return { caller: createNodeCaller(response, format, untakenMs), response, reader };
}

test('whoever waits for a caller that reads nothing is let go when the request is over', async (t) => {
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

for (const delivery of ['a stream', 'a whole answer'] as const)
  test(`the connection of a caller that takes nothing of what is complete is dropped: ${delivery}`, async (t) => {
    const { caller, response } = await connectReader(t);
    const closed = once(response, 'close');
    if (delivery === 'a stream') {
      caller.startStream('gen-1');
      caller.end(MUCH);
    } else caller.answer('gen-1', MUCH);
    await closed;
    assert.equal(response.writableFinished, false);
  });

test('a caller that reads on, however late, has the whole answer, and its connection stays open', async (t) => {
  // Longer than a busy machine leaves this process without a turn, and shorter than the reading takes.
  const { caller, response, reader } = await connectReader(t, 1_000);
  caller.answer('gen-1', MUCH);
  let bytes = 0;
  reader.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    reader.pause();
    setTimeout(() => reader.resume(), 3);
  });
  await once(response, 'close');
  assert.ok(response.writableFinished);
  while (bytes < MUCH.length) await once(reader, 'data');
  assert.equal(reader.destroyed, false);
});
