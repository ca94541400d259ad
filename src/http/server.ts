import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { preflightHeaders } from './cors.ts';
import type { RawHandler } from './generation/route.ts';

export interface ServerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Generation endpoints by path below the version segment: `/chat/completions`. POST only. */
  readonly generation: Readonly<Record<string, RawHandler>>;
  /** Mounts everything else. */
  readonly mount: (fastify: FastifyInstance) => void;
}

export interface HttpServer {
  readonly fastify: FastifyInstance;
  /** @throws NodeJS.ErrnoException `EADDRINUSE` and the like */
  listen(): Promise<AddressInfo>;
  /** True from the start of `close`. */
  readonly draining: boolean;
  /** Stops accepting, waits for requests in flight, and drops what is left after `drainMs`. */
  close(drainMs: number): Promise<void>;
}

const PREFIXES = ['/v1', '/api/v1', '/v1/v1'] as const;
/** Longer than the idle time of common load balancers, so that they, not we, close first. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_TIMEOUT_MS = 30_000;
const HEADER_BYTES_MAX = 128 * 1_024;
const SOCKET_BACKLOG = 4_096;

/** One listener: generation endpoints on bare `node:http`, everything else through Fastify (docs/decisions/0002). */
export function createHttpServer(options: ServerOptions): HttpServer {
  const routes = new Map<string, RawHandler>();
  for (const prefix of PREFIXES)
    for (const [path, handler] of Object.entries(options.generation)) routes.set(prefix + path, handler);
  let draining = false;
  let inFlight = 0;
  let onIdle: (() => void) | undefined;
  let server: Server | undefined;

  function track(response: ServerResponse): void {
    inFlight++;
    response.once('close', () => {
      inFlight--;
      if (inFlight === 0) onIdle?.();
    });
    if (draining) response.shouldKeepAlive = false;
  }

  const fastify = Fastify({
    logger: false,
    serverFactory: (handleByFastify) => {
      const handle = (request: IncomingMessage, response: ServerResponse): void => {
        track(response);
        const raw = request.method === 'POST' ? routes.get(pathOf(request.url)) : undefined;
        if (raw !== undefined) void raw(request, response);
        else if (!answerProbe(request, response)) handleByFastify(request, response);
      };
      server = createServer(
        {
          keepAliveTimeout: KEEP_ALIVE_MS,
          headersTimeout: HEADERS_TIMEOUT_MS,
          maxHeaderSize: HEADER_BYTES_MAX,
          requestTimeout: 0,
        },
        handle,
      );
      // Routes answer `Expect: 100-continue` themselves, after the key and the declared size have passed.
      server.on('checkContinue', handle);
      return server;
    },
  });
  options.mount(fastify);

  return {
    fastify,
    get draining() {
      return draining;
    },
    async listen() {
      await fastify.ready();
      const listening = server as Server;
      await new Promise<void>((resolve, reject) => {
        listening.once('error', reject);
        listening.listen({ host: options.host, port: options.port, backlog: SOCKET_BACKLOG }, () => {
          listening.off('error', reject);
          resolve();
        });
      });
      return listening.address() as AddressInfo;
    },
    async close(drainMs) {
      draining = true;
      const listening = server as Server;
      const closed = new Promise<void>((resolve) => listening.close(() => resolve()));
      listening.closeIdleConnections();
      await Promise.race([
        new Promise<void>((resolve) => {
          onIdle = resolve;
          if (inFlight === 0) resolve();
        }),
        new Promise<void>((resolve) => setTimeout(resolve, drainMs).unref()),
      ]);
      listening.closeAllConnections();
      await closed;
      await fastify.close();
    },
  };
}

function pathOf(url: string | undefined): string {
  const path = url ?? '/';
  const query = path.indexOf('?');
  return query < 0 ? path : path.slice(0, query);
}

/** Preflights, and the connectivity probes of terminal agents: empty, without a key, not logged (pains.md 6b). */
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
