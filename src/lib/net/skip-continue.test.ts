import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createHttpClient, type InboundAnswer } from './http-client.ts';

const client = createHttpClient();
const servers: Server[] = [];
after(async () => {
  await client.close();
  for (const server of servers) server.close();
});

/** @param pieces of the bytes of one answer, each written by itself */
async function answering(pieces: readonly string[]): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', () => {
      void (async () => {
        for (const piece of pieces) {
          socket.write(piece);
          await delay(5);
        }
      })();
    });
  });
  servers.push(server);
  server.on('close', () => sockets.forEach((socket) => socket.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function ask(origin: string): Promise<string> {
  const { answer } = client.call({
    origin,
    path: '/',
    method: 'POST',
    headers: {},
    connectTimeoutMs: 1_000,
    body: 'x',
  });
  const { status, read }: { status: number; read: InboundAnswer['read'] } = await answer.then((one) => ({
    status: one.status,
    read: () => one.read(),
  }));
  const chunks: Uint8Array[] = [];
  for (let chunk = await read(); chunk !== undefined; chunk = await read()) chunks.push(chunk);
  return `${status} ${Buffer.concat(chunks).toString()}`;
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello';

for (const [name, pieces] of [
  ['in a packet of its own', [CONTINUE, ANSWER]],
  ['with the answer', [CONTINUE + ANSWER]],
  ['byte by byte', [...CONTINUE.split(''), ANSWER]],
  ['twice', [CONTINUE + CONTINUE, ANSWER]],
  [
    'with headers, before 102 and 103',
    [
      'HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n',
      'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
      ANSWER,
    ],
  ],
  ['by HTTP/1.0 without a phrase', ['HTTP/1.0 100\r\n\r\n', ANSWER]],
] as const)
  test(`removes an unsolicited 100 Continue ${name}, also from later responses of the connection`, async () => {
    const origin = await answering(pieces);
    for (let request = 0; request < 3; request++) assert.equal(await ask(origin), '200 hello');
  });

test('leaves a body alone that looks like a 100 Continue', async () => {
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${CONTINUE.length}\r\n\r\n`;
  assert.equal(await ask(await answering([head, CONTINUE])), `200 ${CONTINUE}`);
});

test('fails a response whose 100 Continue never ends', async () => {
  const origin = await answering([`HTTP/1.1 100 Continue\r\nx: ${'a'.repeat(20_000)}`]);
  await assert.rejects(ask(origin));
});
