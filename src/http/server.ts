import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions as NodeServerOptions,
  type ServerResponse,
} from 'node:http';
import { Server as NetServer, type AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { GatewayError } from '../canonical/gateway-error.ts';
import { assert } from '../lib/assert.ts';
import { listenLocally } from '../lib/net/local-socket.ts';
import { GENERATION_BASE_PATHS, rewriteBasePath } from './base-path.ts';
import { answerClientError, type SerializeError } from './client-error.ts';
import type { ConsoleListener } from './console/console.ts';
import { createConnections, type Connections } from './connections.ts';
import { CORS_HEADERS, preflightHeaders } from './cors.ts';
import type { RawHandler } from './generation/route.ts';
import type { UnreadResponses } from './unread-responses.ts';

export interface ServerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Generation endpoints by path below the version segment: `/chat/completions`. POST only. */
  readonly generation: Readonly<Record<string, RawHandler>>;
  /** Mounts everything else at its first request, or hands it to another process. */
  readonly mount: MountRoutes | { readonly forward: RequestListener };
  /** Serves the dashboard and its calls. Absent: there is none. */
  readonly console?: ConsoleListener | undefined;
  /** Whether other processes accept connections on the same port. Default: no. */
  readonly reusePort?: boolean;
  readonly serializeError: SerializeError;
  readonly onBug: (error: unknown) => void;
  /** Open connections at a time. */
  readonly connectionsMax: number;
  /** Answers that wait for their callers to read them. */
  readonly unread: UnreadResponses;
  /** That a request may take to arrive, whatever its route allows. Default: 905 s. */
  readonly requestMs?: number;
}

export type MountRoutes = (fastify: FastifyInstance) => void | Promise<void>;

export interface HttpServer {
  /** @throws NodeJS.ErrnoException `EADDRINUSE` and the like */
  listen(): Promise<AddressInfo>;
  /** Listens on a local socket in place of a port. Only processes of this user can connect. */
  listenAt(path: string): Promise<void>;
  /** True from the start of `close`: health checks must see that the gateway is not ready. */
  readonly draining: boolean;
  /** True once `close` has stopped accepting requests: no request is served any more. */
  readonly refusing: boolean;
  /** Says farewell, stops accepting, waits for requests in flight, and drops what is left. */
  close(times: CloseTimes): Promise<void>;
}

export interface CloseTimes {
  /**
   * So long callers are still served, on open connections and new ones, each of which closes after one answer: until
   * balancers have seen that we are not ready. Without it a request is lost that leaves as we close its connection, or
   * that waits in the backlog of the port as that is closed, and a rolling restart is not free of errors.
   */
  readonly farewellMs: number;
  /** What is in flight after that is dropped when this time is over, too. */
  readonly drainMs: number;
}

/** Longer than the idle time of common load balancers, so that they, not we, close first. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = 10_000;
const HEADER_BYTES_MAX = 32_768;
/** Longer than any body may take: bodies have limits of their own (read-body.ts), and this is the net below them. */
const REQUEST_MS = 905_000;
/** How often connections are looked through for those that take longer. */
const CHECK_MS = 1_000;
/** With a base of their own: clients of Cohere take the host for the base of an address, and decisions have `/alpha`. */
const ROOT_PATH = /^\/(?:v2|alpha)\//;
/** Paths of it are found below this, too. */
const ALPHA_PREFIX = '/api';
const SERVER_LIMITS = {
  keepAliveTimeout: KEEP_ALIVE_MS,
  maxHeaderSize: HEADER_BYTES_MAX,
  connectionsCheckingInterval: CHECK_MS,
  // Refused here, so that the answer has a body.
  requireHostHeader: false,
};

/** @param requestMs ends with the body of the request, not with the answer, which may stream for as long */
const limitsOf = (requestMs: number): NodeServerOptions => ({
  ...SERVER_LIMITS,
  headersTimeout: Math.min(HEADERS_MS, requestMs),
  requestTimeout: requestMs,
});

const SOCKET_BACKLOG = 4_096;
/** Routes read and write values by themselves. Without these Fastify loads two compilers of schemas at its start. */
const NO_SCHEMAS = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

/** One listener: generation endpoints on bare `node:http`, everything else through Fastify (docs/decisions/0002). */
export function createHttpServer(options: ServerOptions): HttpServer {
  return new TwoLaneServer(options);
}

class TwoLaneServer implements HttpServer {
  draining = false;
  refusing = false;
  readonly #server: Server;
  readonly #address: { readonly host: string; readonly port: number; readonly reusePort: boolean };
  readonly #mount: MountRoutes | undefined;
  #fastify: Promise<FastifyInstance> | undefined;
  readonly #routes = new Map<string, RawHandler>();
  readonly #console: ConsoleListener | undefined;
  readonly #connections: Connections;
  readonly #unread: UnreadResponses;
  readonly #onBug: ServerOptions['onBug'];
  readonly #serializeError: SerializeError;
  #inFlight = 0;
  #onIdle: (() => void) | undefined;
  #handleOther: RequestListener = (request, response) => this.#handleByFastify(request, response);

  constructor(options: ServerOptions) {
    const { host, port, reusePort = false, generation, mount, serializeError, onBug, connectionsMax, unread } = options;
    const { requestMs = REQUEST_MS } = options;
    this.#onBug = onBug;
    this.#serializeError = serializeError;
    this.#console = options.console;
    this.#address = { host, port, reusePort };
    for (const prefix of GENERATION_BASE_PATHS)
      for (const [path, handler] of Object.entries(generation)) this.#routes.set(prefix + path, handler);
    for (const [path, handler] of Object.entries(generation)) {
      if (ROOT_PATH.test(path)) this.#routes.set(path, handler);
      if (path.startsWith('/alpha/')) this.#routes.set(ALPHA_PREFIX + path, handler);
    }
    const handle: RequestListener = (request, response) => this.#handle(request, response);
    this.#server = createServer(limitsOf(requestMs), handle);
    this.#connections = createConnections(connectionsMax, unread);
    this.#unread = unread;
    this.#server.on('connection', (socket) => this.#connections.opened(socket));
    // Routes answer `Expect: 100-continue` themselves, after the key and the declared size have passed.
    this.#server.on('checkContinue', handle);
    this.#server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      const error = new GatewayError('invalid_request', 'Expect: only "100-continue" is understood.', { status: 417 });
      if (this.#connections.requested(request)) this.#refuse(error, request, response);
    });
    this.#server.on('clientError', (error, socket) => answerClientError(error, socket, serializeError));
    if (typeof mount === 'function') this.#mount = mount;
    else this.#handleOther = mount.forward;
  }

  async listen(): Promise<AddressInfo> {
    const listening = once(this.#server, 'listening');
    this.#server.listen({ ...this.#address, backlog: SOCKET_BACKLOG });
    await listening;
    const address = this.#server.address();
    assert(typeof address === 'object' && address !== null, 'a TCP server has an address and a port');
    return address;
  }

  async listenAt(path: string): Promise<void> {
    await listenLocally(this.#server, path, SOCKET_BACKLOG);
  }

  async close({ farewellMs, drainMs }: CloseTimes): Promise<void> {
    this.draining = true;
    if (this.#server.listening) await wait(farewellMs);
    const closed = new Promise<void>((resolve) => {
      // The HTTP server's own `close` would close idle connections, too.
      NetServer.prototype.close.call(this.#server, () => resolve());
    });
    this.refusing = true;
    this.#server.closeIdleConnections();
    await this.#untilIdle(drainMs);
    this.#server.closeAllConnections();
    await closed;
    // A failure to mount was reported with the request that it failed.
    await (await this.#fastify?.catch(() => undefined))?.close();
  }

  /** Its first request waits for its routes; the later ones go to it directly. */
  #handleByFastify(request: IncomingMessage, response: ServerResponse): void {
    this.#fastify ??= this.#createFastify();
    const handle = async (): Promise<void> => {
      await this.#fastify;
      if (!response.destroyed) this.#handleOther(request, response);
    };
    handle().catch((error: unknown) => {
      this.#onBug(error);
      response.destroy();
    });
  }

  /** Its code and its routes would be a third of a start, and many processes serve generations alone. */
  async #createFastify(): Promise<FastifyInstance> {
    const serializeError = this.#serializeError;
    const { default: Fastify } = await import('fastify');
    let handle: RequestListener = () => undefined;
    const fastify = Fastify({
      logger: false,
      rewriteUrl: rewriteBasePath,
      schemaController: { compilersFactory: NO_SCHEMAS },
      // What its router cannot read never reaches the error handlers of routes.
      frameworkErrors(cause, request, reply) {
        const error = new GatewayError('invalid_request', 'The path of the request is not well-formed.', { cause });
        reply.hijack();
        reply.raw.writeHead(error.status, { ...CORS_HEADERS, 'content-type': 'application/json; charset=utf-8' });
        reply.raw.end(JSON.stringify(serializeError(error, request.url)));
      },
      serverFactory: (handler) => {
        handle = handler;
        return this.#server;
      },
    });
    await this.#mount?.(fastify);
    await fastify.ready();
    this.#handleOther = handle;
    return fastify;
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#connections.requested(request)) return;
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      this.#refuse(new GatewayError('invalid_request', 'Host: the header is missing.'), request, response);
      return;
    }
    if (isSocketOfResponses(request)) {
      this.#refuse(NO_SOCKETS, request, response);
      return;
    }
    this.#track(request, response);
    const raw = request.method === 'POST' ? this.#routes.get(pathOf(request.url)) : undefined;
    if (raw !== undefined) this.#answer(raw, request, response);
    else if (this.#console !== undefined && isConsolePath(request))
      this.#answerConsole(this.#console, request, response);
    else if (!answerProbe(request, response)) this.#handleOther(request, response);
  }

  /** Requests that reach no route. */
  #refuse(error: GatewayError, request: IncomingMessage, response: ServerResponse): void {
    this.#track(request, response);
    const body = JSON.stringify(this.#serializeError(error, request.url ?? '/'));
    response
      .writeHead(error.status, {
        ...CORS_HEADERS,
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
        connection: 'close',
      })
      .end(body);
  }

  /** A handler that fails answers for itself; if even that fails, the caller must not wait for ever. */
  #answer(raw: RawHandler, request: IncomingMessage, response: ServerResponse): void {
    raw(request, response).catch((error: unknown) => {
      this.#onBug(error);
      response.destroy();
    });
  }

  #answerConsole(listener: ConsoleListener, request: IncomingMessage, response: ServerResponse): void {
    const next: RequestListener = (each, its) => this.#handleOther(each, its);
    listener(request, response, next).catch((error: unknown) => {
      this.#onBug(error);
      response.destroy();
    });
  }

  #track(request: IncomingMessage, response: ServerResponse): void {
    this.#inFlight++;
    // Both come once. All of the answer was handed over, and not all of it taken.
    response.on('prefinish', () => this.#unread.complete(response));
    response.on('close', () => {
      this.#connections.answered(request);
      this.#inFlight--;
      if (this.#inFlight === 0) this.#onIdle?.();
    });
    if (this.draining) response.shouldKeepAlive = false;
  }

  #untilIdle(limitMs: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#inFlight === 0) {
        resolve();
        return;
      }
      const timer = setTimeout(resolve, limitMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * Clients of the responses format try a WebSocket first where they are set to. This status, before any check that could
 * give another one, makes them stay on HTTP for the rest of their session: Codex CLI, `responses_websocket`, 2026-06.
 */
const NO_SOCKETS = new GatewayError('invalid_request', 'WebSockets are not supported here. Send POST requests.', {
  status: 426,
});

const SOCKET_PATHS: ReadonlySet<string> = new Set(GENERATION_BASE_PATHS.map((prefix) => `${prefix}/responses`));

/** @throws Error at the start, for a route of Fastify that has a schema */
function refuseSchema(): never {
  throw new Error('Routes declare their shapes with defineRoute, and Fastify has no compiler of schemas.');
}

function isSocketOfResponses({ method, url, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && SOCKET_PATHS.has(pathOf(url));
}

function pathOf(url: string | undefined): string {
  const path = url ?? '/';
  const query = path.indexOf('?');
  return query < 0 ? path : path.slice(0, query);
}

/** Whether the dashboard serves the path. `HEAD /` is a probe. */
function isConsolePath({ method, url }: IncomingMessage): boolean {
  const path = pathOf(url);
  if (path === '/' || path === '/auth') return method === 'GET';
  return path === '/ui' || path.startsWith('/ui/');
}

/** Preflights, and the connectivity probes of terminal agents: empty, without a key, not logged (@spec operation-2). */
function answerProbe(request: IncomingMessage, response: ServerResponse): boolean {
  if (request.method === 'OPTIONS') {
    response.writeHead(204, preflightHeaders(request.headers['access-control-request-headers'])).end();
    return true;
  }
  const path = pathOf(request.url);
  if (request.method === 'HEAD' && (path === '/' || path === '/api/hello')) {
    response.writeHead(200).end();
    return true;
  }
  return false;
}
