import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, test } from 'node:test';

import { runClosedLoop, runOpenLoop, runPaced } from './loads.ts';
import { writeScript } from '../servers/mock-script.ts';

const script = writeScript('chat', 'burst-5x10');
assert(script);
const stream = Buffer.concat(script.writes);
const expectation = { kind: 'stream', marker: 'data: [DONE]\n\n', frames: script.frames } as const;
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A server that hands each request to `answer`; requests of these tests come in one read. */
async function serve(answer: (socket: Socket, ordinal: number) => void): Promise<{ host: string; port: number }> {
  let ordinal = 0;
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', () => answer(socket, ordinal++));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(address !== null && typeof address === 'object');
  return { host: '127.0.0.1', port: address.port };
}

const common = { request: 'POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n', expectation };

test('a closed loop keeps its connections busy and counts every frame', async () => {
  let inFlight = 0;
  let inFlightMax = 0;
  const target = await serve((socket) => {
    inFlightMax = Math.max(inFlightMax, (inFlight += 1));
    setTimeout(() => {
      inFlight -= 1;
      socket.write(stream);
    }, 2);
  });
  const result = await runClosedLoop({ ...common, ...target, kind: 'closed', connections: 4, durationMs: 150 });
  assert.equal(result.bad, 0);
  assert.equal(inFlightMax, 4);
  assert(result.completed >= 8);
  assert.equal(result.frames % script.frames, 0);
  assert.equal(result.latencyUs.count, result.completed);
});

test('reports a wrong response and a lost connection, and does not count them as served', async () => {
  const target = await serve((socket, ordinal) => {
    if (ordinal === 0) socket.write(stream.subarray(0, stream.length - 40));
    else if (ordinal === 1) socket.write('HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n');
    if (ordinal === 0) socket.end();
    else if (ordinal > 1) socket.write(stream);
  });
  const result = await runClosedLoop({ ...common, ...target, kind: 'closed', connections: 2, durationMs: 50 });
  assert.equal(result.bad, 2);
  assert(result.firstFault);
});

test('an open loop counts the wait for a slow server into the latency', async () => {
  const waiting: Socket[] = [];
  const target = await serve((socket) => waiting.push(socket));
  const opener = setInterval(() => {
    for (const socket of waiting.splice(0)) socket.write(stream);
  }, 60);
  const result = await runOpenLoop({ ...common, ...target, kind: 'open', requestsPerS: 200, durationMs: 200 });
  clearInterval(opener);
  assert.equal(result.completed, 40);
  assert.equal(result.bad, 0);
  assert(result.latencyUs.max > 20_000, `${result.latencyUs.max}`);
});

test('a silence inside a stream is a stall and the others are not', async () => {
  const target = await serve((socket, ordinal) => {
    const cut = stream.indexOf('data: ', 600);
    socket.write(stream.subarray(0, cut));
    setTimeout(() => socket.write(stream.subarray(cut)), ordinal === 0 ? 400 : 20);
  });
  const paced = { streams: 3, rampMs: 10, stallMs: 250, limitMs: 2_000 };
  const result = await runPaced({ ...common, ...target, kind: 'paced', ...paced });
  assert.deepEqual([result.completed, result.bad, result.stalls], [3, 0, 1]);
  assert(result.gapMs.max >= 350);
});
