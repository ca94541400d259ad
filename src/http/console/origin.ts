import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { PEER_HEADER } from '../forward.ts';

/** Where browsers may find the dashboard. */
export interface OriginRules {
  /** In lower case, without a port. */
  readonly allowedHosts: readonly string[];
  readonly plainHttp: boolean;
}

const LOOPBACK = /^(?:localhost|[\w-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** A host with its port, as the header and addresses spell it. */
const HOST = /^([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/;
const USUAL_PORTS = new Map([
  ['http:', '80'],
  ['https:', '443'],
]);

/**
 * Refuses a name that is not the dashboard's own: the page of a foreign name that leads to this address (DNS rebinding) is of
 * the same origin as what it calls, so that only its name gives it away. @spec console-10
 * @throws GatewayError 403
 */
export function checkHost({ headers }: IncomingMessage, { allowedHosts }: OriginRules): void {
  const name = hostOf(headers.host)?.name;
  if (name !== undefined && (LOOPBACK.test(name) || allowedHosts.includes(name))) return;
  throw new GatewayError(
    'permission_denied',
    'The dashboard is not served under this host name. Add it to console.allowed_hosts in the configuration.',
  );
}

/**
 * Refuses calls of pages of another origin. Other ports of this host are other origins to which browsers send the cookie
 * all the same, even a strict one.
 * @throws GatewayError 403
 */
export function checkOrigin(request: IncomingMessage, rules: OriginRules): void {
  const { headers, method } = request;
  const site = headers['sec-fetch-site'];
  if (site === 'same-origin') return;
  if (site === undefined && headers.origin !== undefined && isOwnOrigin(headers.origin, headers.host)) return;
  // Browsers say neither where the page came without TLS from another machine. A page of another origin cannot send the
  // token without saying its origin.
  if (site === undefined && headers.origin === undefined && method === 'GET' && isPlain(request, rules)) return;
  throw new GatewayError('permission_denied', 'Calls below /ui/api are for the dashboard of this gateway alone.');
}

/** @throws GatewayError 403 where the secrets of a sign-in could be read on their way */
export function checkTransport(request: IncomingMessage, { plainHttp }: OriginRules): void {
  if (plainHttp || isTls(request) || isLoopback(request)) return;
  throw new GatewayError(
    'permission_denied',
    'Sign in over TLS, or from the machine itself. "console: { plain_http: true }" in the configuration allows it without.',
  );
}

/** Whether the browser speaks TLS, to us or to a proxy before us. */
export function isTls({ headers }: IncomingMessage): boolean {
  const forwarded = headers['x-forwarded-proto'];
  const proxied = (typeof forwarded === 'string' ? forwarded : '').split(',', 1)[0]?.trim().toLowerCase();
  // A client that lies about it gets a cookie that its browser does not send.
  return headers.origin?.startsWith('https://') === true || proxied === 'https';
}

/**
 * The address of the browser, or of the proxy before us.
 * @param isForwarded whether workers hand on all requests, over the local socket where they alone call
 */
export function addressOf({ socket, headers }: IncomingMessage, isForwarded: boolean): string {
  if (!isForwarded) return socket.remoteAddress ?? '';
  const peer = headers[PEER_HEADER];
  return typeof peer === 'string' ? peer : '';
}

function isPlain(request: IncomingMessage, { plainHttp }: OriginRules): boolean {
  return plainHttp && !isTls(request) && !isLoopback(request);
}

function isLoopback({ headers }: IncomingMessage): boolean {
  const host = hostOf(headers.host);
  return host !== undefined && LOOPBACK.test(host.name);
}

function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const [page, own] = [URL.parse(origin), hostOf(host)];
  if (page === null || own === undefined) return false;
  const usual = USUAL_PORTS.get(page.protocol);
  if (usual === undefined) return false;
  return page.hostname === own.name && (page.port || usual) === (own.port ?? usual);
}

function hostOf(header: string | undefined): { readonly name: string; readonly port: string | undefined } | undefined {
  const [, name, port] = HOST.exec((header ?? '').toLowerCase()) ?? [];
  return name === undefined ? undefined : { name, port };
}

/** The address of the dashboard as the browser has it. Its host is one of those that `checkHost` lets in. */
export function originOf(request: IncomingMessage): string {
  return `${isTls(request) ? 'https' : 'http'}://${(request.headers.host ?? '').toLowerCase()}`;
}
