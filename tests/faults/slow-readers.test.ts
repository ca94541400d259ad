import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { test, type TestContext } from 'node:test';
import type { GenerationRow } from '../../src/store/generations/columns.ts';
import { API_KEY, MANAGEMENT_KEY, type RunningGateway } from '../support/gateway.ts';
import { startTwoProviders } from '../support/two-providers.ts';
import { chatChunk, sse, type Script } from '../support/upstream.ts';

/** Long enough for the buffers between an upstream and a stalled reader to fill on a machine under load. */
const TOTAL_MS = 4_000;
const PIECE = sse([chatChunk({ content: 'x'.repeat(16_000) })]);

/** An answer without end, at the pace of its reader. */
const endless: Script = (_arrived, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  Readable.from(pieces()).pipe(response);
};

function* pieces(): Generator<string> {
  for (;;) yield PIECE;
}

interface Reader {
  readonly socket: Socket;
  readonly id: string;
  /** The last of what was read. */
  readonly tail: () => string;
}

/** Asks for a stream, reads its first bytes, and then no more until the socket is resumed. */
async function readFirst(gateway: RunningGateway): Promise<Reader> {
  const body = JSON.stringify({ model: 'acme/first', stream: true, messages: [{ role: 'user', content: 'hi' }] });
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${API_KEY}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  let tail = '';
  const first = Promise.withResolvers<string>();
  socket.on('data', (bytes) => {
    tail = (tail + bytes.toString('latin1')).slice(-2_000);
    const id = /x-generation-id: (\S+)/i.exec(bytes.toString('latin1'))?.[1];
    if (id === undefined) return;
    socket.pause();
    first.resolve(id);
  });
  return { socket, id: await first.promise, tail: () => tail };
}

async function recorded({ app }: RunningGateway, id: string): Promise<GenerationRow | undefined> {
  for (let tries = 0; tries < 400; tries++) {
    const row = await app.generations.find(id);
    if (row !== undefined) return row;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return undefined;
}

async function openStreams({ url }: RunningGateway): Promise<number> {
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${MANAGEMENT_KEY}` } });
  return Number(/^gateway_open_streams(?:\{[^}]*\})? (\d+)$/m.exec(await metrics.text())?.[1]);
}

function start(t: TestContext, first: Script): ReturnType<typeof startTwoProviders> {
  return startTwoProviders(t, { first, timeouts: `{ total_ms: ${TOTAL_MS} }` });
}

// @spec stream-31
test('ends a stalled reader when the time of the request is over, and charges what was sent', async (t) => {
  const { gateway } = await start(t, endless);
  const { socket, id } = await readFirst(gateway);
  t.after(() => socket.destroy());
  assert.equal(await openStreams(gateway), 1);
  const row = await recorded(gateway, id);
  assert.deepEqual([row?.cancelled, row?.status, row?.usageSource], [true, 499, 'estimated']);
  assert.ok((row?.tokensCompletion ?? 0) > 4_000, String(row?.tokensCompletion));
  assert.ok((row?.costCompletionNanoUsd ?? 0) > 0);
  // The row is there a moment before the stream is counted as closed.
  for (let tries = 0; tries < 100 && (await openStreams(gateway)) > 0; tries++);
  assert.equal(await openStreams(gateway), 0);
});

test('reports the end to a reader that stalled past the time of the request, and charges what was sent', async (t) => {
  const { gateway } = await start(t, endless);
  const { socket, id, tail } = await readFirst(gateway);
  t.after(() => socket.destroy());
  const row = await recorded(gateway, id);
  assert.ok((row?.costCompletionNanoUsd ?? 0) > 0);
  socket.resume();
  for (let tries = 0; tries < 400 && !tail().includes('[DONE]'); tries++)
    await new Promise((resolve) => setTimeout(resolve, 25));
  assert.match(tail(), /"error":\{"code":408.*\[DONE\]/s);
});

test('charges a reader that keeps up nothing when an upstream outlasts the time of the request', async (t) => {
  const { gateway } = await start(t, (_arrived, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(PIECE);
  });
  const { socket, id } = await readFirst(gateway);
  t.after(() => socket.destroy());
  socket.resume();
  const row = await recorded(gateway, id);
  assert.deepEqual([row?.cancelled, row?.status, row?.costNanoUsd], [false, 408, 0]);
});
