import type { Place } from '../../accounts/connections/authorization.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { isSafeAddress } from '../../lib/net/loopback-name.ts';

/** Paths of the MCP server; the first is the one that is named. */
export const RESOURCE_PATHS = ['/mcp', '/v1/mcp', '/api/v1/mcp'] as const;
const [USUAL_PATH] = RESOURCE_PATHS;

/**
 * The gateway under the origin that a client calls it by.
 * @throws GatewayError 403 where tokens could be read on their way
 */
export function placeOf(origin: string): Place {
  if (!isSafeAddress(origin))
    throw new GatewayError(
      'permission_denied',
      'OAuth needs TLS. Set server.public_url to the https address of the gateway, or use an API key.',
    );
  const [usual, ...others] = RESOURCE_PATHS;
  return { issuer: origin, resources: [origin + usual, ...others.map((path) => origin + path)] };
}

/** The address that a client calls, by its path. */
export function resourceAt(origin: string, path: string): string {
  return origin + (RESOURCE_PATHS.find((each) => each === path) ?? USUAL_PATH);
}
