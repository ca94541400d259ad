import { Agent, request as callHttp, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { SerializeError } from './client-error.ts';
import { CORS_HEADERS } from './cors.ts';

export interface ForwarderOptions {
  /** The local socket on which the first process serves HTTP. */
  readonly path: string;
  /** In whose shape a caller learns that the first process does not answer. */
  readonly serializeError: SerializeError;
  readonly onFailed: (error: Error) => void;
}

/** Hands requests to the first process, and its responses to their callers, as they come. */
export interface Forwarder {
  readonly forward: RequestListener;
  close(): void;
}

/** Connections without a request that are kept for the next ones. */
const FREE_SOCKETS_MAX = 64;
const RETRY_AFTER_S = '1';

/** Tells the first process, which sees a local socket alone, the address of the client. */
export const PEER_HEADER = 'x-gateway-peer';

/** They speak of one connection, not of the request. @source RFC 9110, 7.6.1 */
const HOP_BY_HOP = ['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade'];

export function createForwarder({ path, serializeError, onFailed }: ForwarderOptions): Forwarder {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: FREE_SOCKETS_MAX });

  function refuse(request: IncomingMessage, response: ServerResponse, cause: Error): void {
    onFailed(cause);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const error = new GatewayError('provider_overloaded', 'The gateway cannot answer at the moment. Try again.', {
      cause,
    });
    response
      .writeHead(error.status, {
        ...CORS_HEADERS,
        'content-type': 'application/json; charset=utf-8',
        'retry-after': RETRY_AFTER_S,
      })
      .end(JSON.stringify(serializeError(error, request.url ?? '/')));
  }

  function forward(request: IncomingMessage, response: ServerResponse, mayTryAgain = true): void {
    const { method = 'GET', url = '/' } = request;
    const hasBody = request.headers['content-length'] !== undefined || isChunked(request);
    const forwarded = callHttp({ socketPath: path, agent, method, path: url, headers: headersOf(request, hasBody) });
    const hangUp = (): void => void forwarded.destroy();
    // Without an error it has ended as it should.
    response.once('close', hangUp);
    forwarded.on('continue', () => response.writeContinue());
    forwarded.once('response', (inbound) => {
      // A body that the first process refused is read to its end by the server, not sent on.
      inbound.once('end', () => request.unpipe(forwarded));
      inbound.once('error', () => response.destroy());
      if (inbound.headers.connection === 'close') response.shouldKeepAlive = false;
      response.writeHead(inbound.statusCode ?? 502, withoutHops(inbound, ['transfer-encoding']));
      inbound.pipe(response);
    });
    forwarded.on('error', (error: NodeJS.ErrnoException) => {
      request.unpipe(forwarded);
      if (response.destroyed || response.writableEnded || response.headersSent) return;
      // The first process may close an idle connection just as it is used again.
      if (mayTryAgain && !hasBody && forwarded.reusedSocket && error.code === 'ECONNRESET') {
        response.off('close', hangUp);
        forward(request, response, false);
      } else refuse(request, response, error);
    });
    if (request.headers.expect !== undefined) forwarded.flushHeaders();
    if (hasBody) request.pipe(forwarded);
    else forwarded.end();
  }

  return { forward: (request, response) => forward(request, response), close: () => agent.destroy() };
}

function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined;
}

function headersOf(request: IncomingMessage, hasBody: boolean): string[] {
  const headers = withoutHops(request, [PEER_HEADER, ...(isChunked(request) ? [] : ['content-length'])]);
  headers.push(PEER_HEADER, request.socket.remoteAddress ?? '');
  if (request.headers.host === undefined) headers.push('host', 'localhost');
  // Node would send a body in chunks where nothing says how long it is.
  if (!isChunked(request)) headers.push('content-length', hasBody ? (request.headers['content-length'] ?? '0') : '0');
  return headers;
}

/** Names and values in turn, as they came. */
function withoutHops({ rawHeaders, headers }: IncomingMessage, others: readonly string[]): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named, ...others]);
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!dropped.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
