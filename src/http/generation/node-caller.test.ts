import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { GatewayError } from '../../canonical/gateway-error.ts';
import { NodeCaller } from './node-caller.ts';
import type { ResponseWriter } from '../../pipeline/request.ts';

/** More than the kernel buffers for a reader that does not read. */
const MUCH = 'x'.repeat(32 * 1_024 * 1_024);
const format = {
  requestIdHeader: 'x-request-id',
  encodeError: (error: GatewayError) => ({ error: { message: error.message } }),
} as const;

interface Pair {
  readonly caller: ResponseWriter;
  readonly response: ServerResponse;
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
  return { caller: new NodeCaller(response, format), response };
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
