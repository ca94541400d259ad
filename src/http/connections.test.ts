import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createConnections } from './connections.ts';

/** A connection of a server, on which nothing is read. */
async function openSocket(t: TestContext): Promise<Socket> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  t.after(() => {
    client.destroy();
    server.close();
  });
  const [socket] = (await once(server, 'connection')) as [Socket];
  return socket;
}

function requestOn(socket: Socket, complete: boolean): IncomingMessage {
  return { socket, complete } as IncomingMessage;
}

test('closes the oldest connection without a request for one too many', async (t) => {
  const connections = createConnections(2, { dropStalled: () => assert.fail('no stream is in the way') });
  const [busy, idle, opened] = [await openSocket(t), await openSocket(t), await openSocket(t)];
  connections.opened(busy);
  connections.requested(requestOn(busy, true));
  connections.opened(idle);
  connections.opened(opened);
  assert.deepEqual([busy.destroyed, idle.destroyed, opened.destroyed], [false, true, false]);
});

test('closes the oldest connection whose body is still to come where none is without a request', async (t) => {
  const connections = createConnections(2, { dropStalled: () => assert.fail('no stream is in the way') });
  const [complete, sending, opened] = [await openSocket(t), await openSocket(t), await openSocket(t)];
  connections.opened(complete);
  connections.requested(requestOn(complete, true));
  connections.opened(sending);
  connections.requested(requestOn(sending, false));
  connections.opened(opened);
  assert.deepEqual([complete.destroyed, sending.destroyed, opened.destroyed], [false, true, false]);
});

for (const isStalled of [true, false])
  test(`closes ${isStalled ? 'a stream whose reader takes nothing' : 'the new connection'} where all requests are complete${isStalled ? '' : ' and all streams are read'}`, async (t) => {
    let asked = 0;
    const connections = createConnections(1, {
      dropStalled: () => {
        asked++;
        return isStalled;
      },
    });
    const [busy, opened] = [await openSocket(t), await openSocket(t)];
    connections.opened(busy);
    connections.requested(requestOn(busy, true));
    connections.opened(opened);
    assert.deepEqual([asked, busy.destroyed, opened.destroyed], [1, false, !isStalled]);
  });
