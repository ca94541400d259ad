// The baselines: the thinnest proxies that Node can be. `json` parses and re-serialises the request and the answer, which any gateway has
// to; `pipe` hands bytes through. No keys, no validation, no metering, no logs. Usage: thin-proxy.ts <json|pipe> <origin of the upstream>
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';

import { Pool, type Dispatcher } from 'undici';

import { listenAndAnnounce } from './announce.ts';

const [mode, upstreamOrigin] = process.argv.slice(2);
if ((mode !== 'json' && mode !== 'pipe') || upstreamOrigin === undefined) {
  console.error('usage: thin-proxy.ts <json|pipe> <origin>');
  process.exit(2);
}
const parsesJson = mode === 'json';
const pool = new Pool(upstreamOrigin, {
  connections: 1024,
  pipelining: 1,
  headersTimeout: 60_000,
  bodyTimeout: 60_000,
});

/** Relays one answer. Back-pressure and hang-ups are handled, as no proxy may go without them. */
class Relay implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  #controller: Dispatcher.DispatchController | undefined;
  #pieces: Buffer[] | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('close', () => {
      if (!response.writableFinished) this.#controller?.abort(new Error('the caller hung up'));
    });
    response.on('drain', () => this.#controller?.resume());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // A caller that hung up while its request waited in the pool: 'close' fired before there was anything to abort.
    if (this.#response.destroyed) controller.abort(new Error('the caller hung up'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    const contentType = headers['content-type'] ?? 'application/octet-stream';
    if (parsesJson && contentType.startsWith('application/json')) {
      this.#pieces = [];
      this.#response.statusCode = status;
      return;
    }
    const length = headers['content-length'];
    this.#response.writeHead(status, {
      'content-type': contentType,
      ...(length !== undefined && { 'content-length': length }),
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, piece: Buffer): void {
    if (this.#pieces !== undefined) {
      this.#pieces.push(piece);
      return;
    }
    const roomLeft = this.#response.write(piece);
    // On a destroyed response 'drain' never comes: pausing then would hold the upstream connection for ever.
    if (!roomLeft && !this.#response.destroyed) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#pieces === undefined) {
      this.#response.end();
      return;
    }
    const answer: unknown = JSON.parse(joinText(this.#pieces));
    const body = Buffer.from(JSON.stringify(answer));
    this.#response.writeHead(this.#response.statusCode, {
      'content-type': 'application/json',
      'content-length': body.length,
    });
    this.#response.end(body);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#response.headersSent || this.#response.destroyed) {
      this.#response.destroy();
      return;
    }
    this.#response.writeHead(502, { 'content-type': 'application/json' });
    this.#response.end(JSON.stringify({ error: { message: error.message } }));
  }
}

function joinText(pieces: readonly Buffer[]): string {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only.toString() : Buffer.concat(pieces).toString();
}

function forward(request: IncomingMessage, response: ServerResponse, pieces: readonly Buffer[]): void {
  let body: Buffer | string = Buffer.concat(pieces);
  if (parsesJson) {
    const requested: unknown = JSON.parse(body.toString());
    body = JSON.stringify(requested);
  }
  pool.dispatch(
    {
      path: request.url ?? '/',
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer upstream' },
      body,
    },
    new Relay(response),
  );
}

const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    try {
      forward(request, response, pieces);
    } catch (error) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: String(error) } }));
    }
  });
});
server.keepAliveTimeout = 65_000;
listenAndAnnounce(server);
