import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { GatewayError } from '../canonical/gateway-error.ts';
import { NodeCaller } from './generation/node-caller.ts';
import { createUnreadResponses, type UnreadResponses } from './unread-responses.ts';
import type { ResponseWriter } from '../pipeline/request.ts';

/** More than the kernel buffers for a reader that does not read. */
const MUCH = 'x'.repeat(32 * 1_024 * 1_024);
const READ_AT_ONCE = 1_048_576;
const UNTAKEN_MS = 100;
const format = {
  requestIdHeader: 'x-request-id',
  encodeError: (error: GatewayError) => ({ error: { message: error.message } }),
} as const;

interface Pair {
  readonly caller: ResponseWriter;
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
  const unread = createUnreadResponses({ bytesMax: 64 * MUCH.length, untakenMs });
  response.once('prefinish', () => unread.complete(response));
  return { caller: new NodeCaller(response, format), response, reader };
}

for (const delivery of ['a stream', 'a whole answer'] as const)
  // @spec stream-32
  test(`drops the connection of a caller that takes nothing of a complete response: ${delivery}`, async (t) => {
    const { caller, response } = await connectReader(t);
    const closed = once(response, 'close');
    if (delivery === 'a stream') {
      caller.startStream('gen-1');
      caller.end(MUCH);
    } else caller.answer('gen-1', MUCH);
    await closed;
    assert.equal(response.writableFinished, false);
  });

test('delivers the whole response to a caller that reads on, however late, and keeps its connection', async (t) => {
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

// @spec stream-32
test('drops the answers that wait longest where too many wait', async (t) => {
  const unread = createUnreadResponses({ bytesMax: 2.5 * MUCH.length });
  const pairs: Pair[] = [];
  for (let index = 0; index < 4; index++) {
    const pair = await connectReader(t, 60_000);
    pairs.push(pair);
    pair.caller.answer('gen-1', MUCH);
    unread.complete(pair.response);
  }
  const isDropped = pairs.map(({ response }) => response.destroyed);
  assert.deepEqual(isDropped, [true, true, false, false]);
});

test('counts what has been read no more', async (t) => {
  const unread = createUnreadResponses({ bytesMax: 1.5 * MUCH.length });
  for (let index = 0; index < 3; index++) {
    const { caller, response, reader } = await connectReader(t, 60_000);
    caller.answer('gen-1', MUCH);
    unread.complete(response);
    reader.resume();
    await once(response, 'close');
    assert.ok(response.writableFinished);
  }
});

interface Stream extends Pair {
  /** Writes until the reader is behind, and waits for it. */
  readonly fill: () => void;
}

async function startStream(t: TestContext, unread: UnreadResponses): Promise<Stream> {
  const pair = await connectReader(t, 60_000);
  pair.response.writeHead(200);
  pair.response.on('error', () => undefined);
  return {
    ...pair,
    fill() {
      pair.response.write(MUCH);
      unread.waitForReader(pair.response);
    },
  };
}

test('drops the stream that has stalled longest where streams hold too much together', async (t) => {
  const unread = createUnreadResponses({ bytesMax: 2.5 * MUCH.length, stalledMs: 20 });
  const streams = await Promise.all([1, 2, 3].map(() => startStream(t, unread)));
  for (const { fill } of streams) {
    fill();
    await wait(5);
  }
  const [first, ...others] = streams.map(({ response }) => response);
  assert.ok(first !== undefined);
  await once(first, 'close');
  assert.deepEqual(
    others.map(({ destroyed }) => destroyed),
    [false, false],
  );
});

test('keeps a stream whose reader reads something, and drops one whose reader does not', async (t) => {
  const unread = createUnreadResponses({ bytesMax: 1.5 * MUCH.length, stalledMs: 1_000 });
  const [slow, stalled] = [await startStream(t, unread), await startStream(t, unread)];
  slow.response.on('drain', slow.fill);
  slow.fill();
  stalled.fill();
  let bytes = 0;
  slow.reader.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // The kernel takes more only once some megabytes of its buffer are free.
    if (bytes < READ_AT_ONCE) return;
    bytes = 0;
    slow.reader.pause();
    setTimeout(() => slow.reader.resume(), 10);
  });
  const dropped = await Promise.race([
    once(slow.response, 'close').then(() => 'slow'),
    once(stalled.response, 'close').then(() => 'stalled'),
  ]);
  assert.equal(dropped, 'stalled');
});

test('stops counting a stream whose reader has caught up', async (t) => {
  const unread = createUnreadResponses({ bytesMax: 1.5 * MUCH.length, stalledMs: 0 });
  for (let index = 0; index < 3; index++) {
    const { fill, response, reader } = await startStream(t, unread);
    fill();
    reader.resume();
    await once(response, 'drain');
  }
  const { fill, response } = await startStream(t, unread);
  fill();
  await wait(50);
  assert.equal(response.destroyed, false);
});

test('drops the longest stalled stream on request, and none that is being read', async (t) => {
  const unread = createUnreadResponses({ bytesMax: 64 * MUCH.length });
  assert.equal(unread.dropStalled(), false);
  const [first, second] = [await startStream(t, unread), await startStream(t, unread)];
  first.fill();
  second.fill();
  assert.equal(unread.dropStalled(), false, 'just now they were written to');
  // What the kernel took after the write counts as read.
  while (!unread.dropStalled()) await wait(50);
  assert.deepEqual([first.response.destroyed, second.response.destroyed], [true, false]);
});
