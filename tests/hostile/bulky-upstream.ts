import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { brotliCompressSync, constants } from 'node:zlib';

/** An upstream whose answers take as much memory as it can make them take. */
export interface BulkyUpstream {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  close(): Promise<void>;
}

const MB = 1_048_576;
const PAGE_BYTES = 10 * MB;
const OCR_CHARS = 60 * MB;

/** Each answer by the first part of its path. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse, body: string) => Promise<void> | void>> = {
  packed: sendPackedStream,
  flowing: sendFlowingStream,
  fetching: sendFetchCall,
  page: sendHalfPage,
  service: sendOcr,
};

export async function startBulkyUpstream(): Promise<BulkyUpstream> {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on('error', () => undefined);
  let body = '';
  request.setEncoding('utf8').on('data', (part: string) => (body += part));
  await once(request, 'end').catch(() => undefined);
  const send = ANSWERS[request.url?.split('/')[1] ?? ''];
  if (send === undefined) response.writeHead(404).end();
  else await send(response, body);
}

function frame(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'x', choices })}\n\n`;
}

const STREAM = { 'content-type': 'text/event-stream' };
const FLOW_FRAMES = 2_000;
const flowFrame = frame({ content: 'all of it '.repeat(200) });

/** 4 MB of text, as fast as they are taken. */
async function sendFlowingStream(response: ServerResponse): Promise<void> {
  response.writeHead(200, STREAM);
  await pipeline(flow(), response).catch(() => undefined);
}

function* flow(): Generator<string> {
  yield frame({ role: 'assistant', content: 'a' });
  for (let sent = 0; sent < FLOW_FRAMES; sent++) yield flowFrame;
  yield `${frame({}, 'stop')}data: [DONE]\n\n`;
}

/** Comments of 20 MB that take a few KB: they fill the window of whatever unpacks them, and then the stream stays open. */
let packed: Buffer | undefined;

function sendPackedStream(response: ServerResponse): void {
  packed ??= brotliCompressSync(`${frame({ role: 'assistant', content: 'a' })}${': nothing\n\n'.repeat(2 * MB)}`, {
    params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 5 },
  });
  response.writeHead(200, { ...STREAM, 'content-encoding': 'br' });
  response.write(packed);
}

/** A model that has a page read, and then says that it did. */
function sendFetchCall(response: ServerResponse, body: string): void {
  const input = JSON.stringify({ url: `http://127.0.0.1:${response.socket?.localPort}/page/${Math.random()}` });
  const call = { id: 'call-1', type: 'function', function: { name: 'service_web_fetch', arguments: input } };
  const isRead = body.includes('"role":"tool"');
  const message = { role: 'assistant', ...(isRead ? { content: 'Read.' } : { content: null, tool_calls: [call] }) };
  sendJson(response, {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'x',
    choices: [{ index: 0, message, finish_reason: isRead ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
  });
}

const page = Buffer.alloc(PAGE_BYTES - 1_024, 'word ');

/** All but its end, which never comes. */
function sendHalfPage(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.write(page);
}

let ocr: string | undefined;

function sendOcr(response: ServerResponse): void {
  ocr ??= JSON.stringify({ pages: [{ index: 0, markdown: 'word '.repeat(OCR_CHARS / 5) }] });
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(ocr);
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
