import assert from 'node:assert/strict';
import { Agent, request as callHttp, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { makeFolder } from '../../tests/support/cli/spawn-cli.ts';
import { makeSocketPath, socketAt } from '../lib/net/local-socket.ts';
import { createForwarder } from './forward.ts';
import { createHttpServer, type ServerOptions } from './server.ts';
import { createUnreadResponses } from './unread-responses.ts';

const USUAL: Omit<ServerOptions, 'mount'> = {
  host: '127.0.0.1',
  port: 0,
  generation: { '/ask': (_request, response) => Promise.resolve(void response.end('generated')) },
  serializeError: (error) => ({ error: { message: error.message } }),
  connectionsMax: 100,
  unread: createUnreadResponses({ bytesMax: 1_000_000 }),
  onBug: (error) => assert.fail(String(error)),
};

interface Running {
  readonly port: number;
  readonly url: string;
  readonly closeFirst: () => Promise<void>;
}

/** A worker that forwards to a first process, both in this process. */
async function start(t: TestContext, mount: (fastify: FastifyInstance) => void): Promise<Running> {
  const path = socketAt(await makeSocketPath(makeFolder(t), ['http']), 'http');
  const first = createHttpServer({
    ...USUAL,
    mount(fastify) {
      fastify.removeAllContentTypeParsers();
      fastify.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
      mount(fastify);
    },
  });
  await first.listenAt(path);
  const { serializeError } = USUAL;
  const forwarder = createForwarder({ path, serializeError, onFailed: () => undefined });
  const worker = createHttpServer({ ...USUAL, mount: forwarder });
  const { port } = await worker.listen();
  const closeFirst = (): Promise<void> => first.close({ farewellMs: 0, drainMs: 0 });
  t.after(async () => {
    await worker.close({ farewellMs: 0, drainMs: 0 });
    forwarder.close();
    await closeFirst();
  });
  return { port, url: `http://127.0.0.1:${port}`, closeFirst };
}

async function bytesOf(body: unknown): Promise<number> {
  if (!(body instanceof Readable)) return 0;
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) bytes += chunk.length;
  return bytes;
}

function call(
  options: object,
  body?: Readable,
): Promise<{ readonly status: number; readonly text: string; readonly inbound: IncomingMessage }> {
  return new Promise((resolve, reject) => {
    const called = callHttp(options, (inbound) => {
      let text = '';
      inbound
        .setEncoding('utf8')
        .on('data', (piece: string) => (text += piece))
        .once('end', () => resolve({ status: inbound.statusCode ?? 0, text, inbound }));
    });
    called.once('error', reject);
    if (body === undefined) called.end();
    else body.pipe(called);
  });
}

test('serves forwarded requests and its own in turn on one kept-alive connection', async (t) => {
  const { port } = await start(t, (fastify) => {
    fastify.get('/v1/models', (request, reply) => reply.header('x-seen', request.headers['x-mine']).send({ data: [] }));
    fastify.delete('/v1/models', async (_request, reply) => reply.code(204).send());
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const sockets = new Set<unknown>();
  for (const [method, path, expected] of [
    ['GET', '/v1/models', '{"data":[]}'],
    ['POST', '/v1/ask', 'generated'],
    ['HEAD', '/v1/models', ''],
    ['DELETE', '/v1/models', ''],
    ['GET', '/v1/models', '{"data":[]}'],
  ] as const) {
    const { text, inbound } = await call({ port, agent, method, path, headers: { 'x-mine': 'yes' } });
    assert.equal(text, expected, `${method} ${path}`);
    if (method === 'GET') assert.equal(inbound.headers['x-seen'], 'yes');
    sockets.add(inbound.socket);
  }
  assert.equal(sockets.size, 1);
});

test('streams bodies of known and unknown length', async (t) => {
  const { port } = await start(t, (fastify) => {
    fastify.put('/upload', async (request) => ({
      bytes: await bytesOf(request.body),
      length: request.headers['content-length'] ?? null,
    }));
  });
  const piece = Buffer.alloc(100_000, 'x');
  const of = (pieces: number): Readable => Readable.from(Array.from({ length: pieces }, () => piece));
  const chunked = await call({ port, method: 'PUT', path: '/upload' }, of(50));
  assert.equal(chunked.text, '{"bytes":5000000,"length":null}');
  const known = await call({ port, method: 'PUT', path: '/upload', headers: { 'content-length': 200_000 } }, of(2));
  assert.equal(known.text, '{"bytes":200000,"length":"200000"}');
  const none = await call({ port, method: 'PUT', path: '/upload', headers: { 'content-length': 0 } });
  assert.equal(none.text, '{"bytes":0,"length":"0"}');
});

test('hands on a response as it comes, and the hang-up of its caller', async (t) => {
  const hungUp = Promise.withResolvers<void>();
  const { url } = await start(t, (fastify) => {
    fastify.get('/slow', (_request, reply) => {
      reply.raw.once('close', () => hungUp.resolve());
      reply.hijack();
      reply.raw.writeHead(200, { 'content-type': 'text/plain' }).write('first');
    });
  });
  const hangUp = new AbortController();
  const response = await fetch(`${url}/slow`, { signal: hangUp.signal });
  const reader = response.body?.getReader();
  assert.equal(Buffer.from((await reader?.read())?.value ?? []).toString(), 'first');
  hangUp.abort();
  await hungUp.promise;
});

test('asks for a body that waits for leave only once the first process wants it', async (t) => {
  const { port } = await start(t, (fastify) => {
    fastify.post('/wanted', async (request, reply) => {
      reply.raw.writeContinue();
      return { bytes: await bytesOf(request.body) };
    });
    fastify.post('/unwanted', async (_request, reply) => reply.code(413).send({ no: true }));
  });
  const ask = async (path: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (text.startsWith('HTTP/1.1 100 Continue') && !text.includes('\r\n\r\nHTTP')) socket.write('hello');
    });
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n`);
    while (!text.includes('}')) await wait(5);
    socket.destroy();
    return text;
  };
  assert.match(await ask('/wanted'), /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 .*\{"bytes":5\}/s);
  assert.match(await ask('/unwanted'), /^HTTP\/1\.1 413 /);
});

test('hands on an early refusal of a body that is still being sent', async (t) => {
  const { port } = await start(t, (fastify) => {
    fastify.post('/small', async (_request, reply) => reply.code(413).send({ no: true }));
  });
  const pieces = Readable.from(
    (async function* () {
      for (let at = 0; at < 40; at++) {
        yield Buffer.alloc(50_000);
        await wait(1);
      }
    })(),
  );
  const { status, text } = await call({ port, method: 'POST', path: '/small' }, pieces);
  assert.deepEqual([status, text], [413, '{"no":true}']);
});

test('answers 503 when the first process is gone', async (t) => {
  const { url, closeFirst } = await start(t, (fastify) => {
    fastify.get('/here', () => 'here');
  });
  assert.equal(await (await fetch(`${url}/here`)).text(), 'here');
  await closeFirst();
  const response = await fetch(`${url}/here`);
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '1']);
  assert.match(await response.text(), /cannot answer at the moment/);
  assert.equal(await (await fetch(`${url}/v1/ask`, { method: 'POST', body: '{}' })).text(), 'generated');
});
