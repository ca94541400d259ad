import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { BodyShare } from './body-budget.ts';
import { readBody, type BodyLimits } from './read-body.ts';

const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** What `readBody` gives for bytes sent over a real socket: the text, or the status of the refusal. */
async function receive(
  send: (socket: Socket) => void,
  limits: Partial<BodyLimits> = {},
  share?: BodyShare,
): Promise<string | number> {
  const outcome = Promise.withResolvers<string | number>();
  const server = createServer((request, response) => {
    readBody(request, { bytesMax: 1_000, idleMs: 5_000, totalMs: 5_000, ...limits }, share)
      .then((body) => body.toString('utf8'))
      .catch((error: unknown) => (error instanceof GatewayError ? error.status : Promise.reject(error)))
      .then(outcome.resolve, outcome.reject)
      .finally(() => response.end());
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  send(socket);
  return outcome.promise.finally(() => socket.destroy());
}

const head = (...lines: string[]): string => ['POST / HTTP/1.1', 'Host: x', ...lines, '', ''].join('\r\n');

test('reads all of a body in pieces', async () => {
  const text = await receive((socket) => {
    socket.write(`${head('Transfer-Encoding: chunked')}3\r\nabc\r\n`);
    setTimeout(() => socket.write('2\r\nde\r\n0\r\n\r\n'), 20);
  });
  assert.equal(text, 'abcde');
});

test('reads a request without a body as empty', async () => {
  assert.equal(await receive((socket) => socket.write(head())), '');
});

test('answers 413 for a declared size over the limit before reading, for a hidden one once it is passed', async () => {
  assert.equal(await receive((socket) => socket.write(head('Content-Length: 1001'))), 413);
  const chunk = `3e8\r\n${'x'.repeat(1_000)}\r\n`;
  assert.equal(await receive((socket) => socket.write(`${head('Transfer-Encoding: chunked')}${chunk}${chunk}`)), 413);
});

// @spec request-2
test('answers 413 for a small body that inflates over the limit', async () => {
  const bomb = gzipSync('x'.repeat(500_000));
  assert.ok(bomb.length < 1_000);
  const send = (socket: Socket): void => {
    socket.write(head('Content-Encoding: gzip', `Content-Length: ${bomb.length}`));
    socket.write(bomb);
  };
  assert.equal(await receive(send), 413);
});

test('takes the window of a brotli body from the budget before inflating it', async () => {
  const taken: number[] = [];
  const share = {
    take: (bytes: number) => {
      taken.push(bytes);
      throw new GatewayError('provider_overloaded', 'No room.', { status: 503 });
    },
    release: () => undefined,
  };
  const body = brotliCompressSync(Buffer.alloc(900, ' '), { params: { [constants.BROTLI_PARAM_LGWIN]: 22 } });
  const send = (socket: Socket): void => {
    socket.write(head('Content-Encoding: br', `Content-Length: ${body.length}`));
    socket.write(body);
  };
  assert.equal(await receive(send, {}, share), 503);
  assert.deepEqual(taken, [4_194_304]);
});

/** A frame with a window of its own, which no compressor makes of so short a text. @source RFC 8878, section 3.1.1 */
function zstdFrame(text: string, windowLog: number): Buffer {
  const block = Buffer.alloc(3);
  block.writeUIntLE((text.length << 3) | 1, 0, 3);
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3]), block, Buffer.from(text)]);
}

function sendZstd(bytes: Buffer): (socket: Socket) => void {
  return (socket) => {
    socket.write(head('Content-Encoding: zstd', `Content-Length: ${bytes.length}`));
    socket.write(bytes);
  };
}

test('takes the window of a zstd body from the budget before inflating it', async () => {
  const taken: number[] = [];
  const share = { take: (bytes: number) => void taken.push(bytes), release: () => undefined };
  assert.equal(await receive(sendZstd(zstdFrame('hello', 20)), {}, share), 'hello');
  assert.deepEqual(taken, [1_048_576, 5]);
});

test('answers 413 for a zstd body that inflates over the limit, and 400 for one with a window over 8 MB', async () => {
  assert.equal(await receive(sendZstd(zstdCompressSync('hello'))), 'hello');
  assert.equal(await receive(sendZstd(zstdCompressSync('x'.repeat(500_000)))), 413);
  assert.equal(await receive(sendZstd(zstdFrame('hello', 27))), 400);
});

// @spec request-3
test('inflates a deflated body, and answers 400 for a broken one and an unknown encoding', async () => {
  const packed = deflateSync('hello');
  const send = (encoding: string, bytes: Buffer) => (socket: Socket) => {
    socket.write(head(`Content-Encoding: ${encoding}`, `Content-Length: ${bytes.length}`));
    socket.write(bytes);
  };
  assert.equal(await receive(send('deflate', packed)), 'hello');
  assert.equal(await receive(send('gzip', Buffer.from('nonsense'))), 400);
  assert.equal(await receive(send('compress', packed)), 400);
});

// @spec request-4
test('answers 408 for a body that stops arriving, and for one that drips for ever', async () => {
  assert.equal(await receive((socket) => socket.write(`${head('Content-Length: 10')}abc`), { idleMs: 60 }), 408);
  const drip = (socket: Socket): void => {
    socket.write(head('Content-Length: 900'));
    const timer = setInterval(() => socket.write('x'), 20);
    socket.on('close', () => clearInterval(timer));
  };
  assert.equal(await receive(drip, { idleMs: 200, totalMs: 300 }), 408);
});

test('leaves nothing waiting when the caller hangs up in the middle of the body', async () => {
  const send = (socket: Socket): void => {
    socket.write(`${head('Content-Length: 10')}abc`, () => setTimeout(() => socket.destroy(), 20));
  };
  assert.equal(await receive(send), 400);
});

test('leaves nothing of a request whose body arrives at once, and serves the next one on its connection', async () => {
  const ended = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.on('end', ended.resolve);
    // Node hands the body over between the handler's first two steps.
    Promise.resolve()
      .then(() => readBody(request, { bytesMax: 10, idleMs: 5_000, totalMs: 5_000 }))
      .then((body) => response.end(body))
      .catch(ended.reject);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
  let answers = '';
  socket.on('data', (text: string) => void (answers += text));
  for (const body of ['first', 'second']) {
    socket.write(`${head(`Content-Length: ${body.length}`)}${body}`);
    while (!answers.endsWith(body)) await once(socket, 'data');
  }
  await ended.promise;
  socket.destroy();
  assert.equal(answers.match(/200 OK/g)?.length, 2);
});
