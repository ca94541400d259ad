import { request as requestHttp, type ClientRequest } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import type { ProxyOf } from './proxies.ts';

/** undici's own code: its clients end all requests that wait for a connection. */
const TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';

/**
 * A proxy did not open the way. The message names its host, never its credentials. What was wrong is the cause alone: some codes
 * of errors let undici connect again without an end (`ERR_TLS_CERT_ALTNAME_INVALID`, `UND_ERR_SOCKET`).
 */
export class ProxyError extends Error {
  /** Of the proxy's answer. Absent: there was none. */
  readonly status: number | undefined;
  readonly code: typeof TIMEOUT | undefined;

  constructor(
    proxy: URL,
    problem: string,
    { status, code, ...options }: ErrorOptions & { readonly status?: number; readonly code?: typeof TIMEOUT } = {},
  ) {
    super(`The proxy ${proxy.host} ${problem}`, options);
    this.name = 'ProxyError';
    this.status = status;
    this.code = code;
  }
}

/** Clients wrap what was thrown while connecting in other errors. */
export function proxyErrorIn(error: unknown): ProxyError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof ProxyError) return cause;
  return undefined;
}

type Opened = (error: Error | null, socket: Socket | null) => void;

/** Finds the address that the proxy is requested to connect to, in place of the name; `undefined`: none, it is called directly. */
export type FindAddress = (hostname: string, found: (error: Error | null, address: string | undefined) => void) => void;

/**
 * Connects through a tunnel where there is a proxy on the way, also to `http:` addresses: no proxy then sees or changes a request.
 * @param findAddress absent: the proxy looks names up
 * @source RFC 9110, 9.3.6
 */
export function throughProxies(
  direct: buildConnector.connector,
  proxyOf: ProxyOf,
  { timeoutMs, findAddress }: { readonly timeoutMs: number; readonly findAddress?: FindAddress },
): buildConnector.connector {
  return (target, callback) => {
    const proxy = proxyOf(target);
    if (proxy === undefined) return direct(target, callback);
    const connect = (address: string): void => {
      const port = target.port || (target.protocol === 'https:' ? '443' : '80');
      openTunnel(proxy, `${isIP(address) === 6 ? `[${address}]` : address}:${port}`, timeoutMs, (error, socket) => {
        if (socket === null) callback(error ?? new Error('no socket'), null);
        else if (target.protocol === 'https:') direct({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      });
    };
    if (findAddress === undefined) return connect(target.hostname);
    findAddress(target.hostname, (error, address) => {
      if (error !== null) callback(error, null);
      else if (address === undefined) direct(target, callback);
      else connect(address);
    });
  };
}

/** @param authority `host:port` @param opened called once */
function openTunnel(proxy: URL, authority: string, timeoutMs: number, opened: Opened): void {
  const connecting = requestTunnel(proxy, authority);
  const timer = setTimeout(
    () => connecting.destroy(new ProxyError(proxy, 'does not answer in time', { code: TIMEOUT })),
    timeoutMs,
  );
  connecting.once('connect', ({ statusCode = 0 }, socket, head) => {
    clearTimeout(timer);
    if (statusCode < 200 || statusCode > 299) {
      socket.on('error', () => undefined).destroy();
      const problem = `refuses a connection to ${authority} with status ${statusCode}`;
      opened(new ProxyError(proxy, problem, { status: statusCode }), null);
      return;
    }
    if (head.length > 0) socket.unshift(head);
    opened(null, socket);
  });
  connecting.once('error', (error) => {
    clearTimeout(timer);
    if (error instanceof ProxyError) opened(error, null);
    else opened(new ProxyError(proxy, `cannot be reached (${codeOf(error)})`, { cause: error }), null);
  });
  connecting.end();
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}

function requestTunnel(proxy: URL, authority: string): ClientRequest {
  const { protocol, hostname, port, username, password } = proxy;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const options = {
    host,
    ...(port !== '' && { port }),
    method: 'CONNECT',
    path: authority,
    headers: {
      host: authority,
      ...(username !== '' && { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    agent: false as const,
  };
  return protocol === 'https:' ? requestHttps(options) : requestHttp(options);
}
