import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { isLoopbackName } from '../../lib/net/loopback-name.ts';

export interface OwnOriginRules {
  /** In lower case. */
  readonly allowedOrigins: readonly string[];
  /** Host names of the gateway, in lower case and without a port, besides those of this machine. */
  readonly hosts: readonly string[];
  readonly publicUrl: string | undefined;
  /** Where it listens. */
  readonly gatewayUrl: () => string;
}

const PORT = /:\d+$/;

/**
 * The origin under which the caller reaches the gateway: scheme, host and port.
 * @throws GatewayError 403 for the name of another host, which leads here (DNS rebinding)
 */
export function ownOriginOf({ headers }: IncomingMessage, { hosts, publicUrl, gatewayUrl }: OwnOriginRules): string {
  const host = (headers.host ?? '').toLowerCase();
  const name = host.replace(PORT, '');
  const isLoopback = isLoopbackName(name);
  const shown = publicUrl === undefined ? undefined : new URL(publicUrl);
  // On this machine each name and port is an address of its own.
  if (!isLoopback && name === shown?.hostname) return shown.origin;
  if (!isLoopback && !hosts.includes(name) && name !== new URL(gatewayUrl()).hostname) throw foreignHost();
  const proto = headers['x-forwarded-proto'];
  const isTls = (typeof proto === 'string' ? proto : '').split(',', 1)[0]?.trim().toLowerCase() === 'https';
  const origin = URL.parse(`${isTls ? 'https' : 'http'}://${host}`)?.origin;
  if (origin === undefined) throw foreignHost();
  return origin;
}

/** A page of another origin must not call with a key that a browser holds. @throws GatewayError 403 */
export function checkOrigin({ headers }: IncomingMessage, own: string, { allowedOrigins }: OwnOriginRules): void {
  const origin = headers.origin?.toLowerCase();
  if (origin === undefined || origin === own || allowedOrigins.includes(origin)) return;
  throw new GatewayError(
    'permission_denied',
    'Pages of this origin may not call the MCP server. mcp_server.allowed_origins allows it.',
  );
}

function foreignHost(): GatewayError {
  return new GatewayError(
    'permission_denied',
    'The MCP server is not served under this host name. Set server.public_url, or add it to console.allowed_hosts.',
  );
}
