import type { Config } from '../../config/config.ts';
import type { GuardedAgentOptions } from '../../lib/net/guarded-agent.ts';
import { createProxyOf } from '../../lib/net/proxy/proxies.ts';
import { isPublicOrOwnAddress } from '../../lib/net/public-address.ts';

/** Which addresses may be called that users chose: the operator may use its own network, but never the addresses of cloud credentials. */
export function destinationAddresses({
  observability,
  proxies,
}: Pick<Config, 'observability' | 'proxies'>): GuardedAgentOptions {
  const proxyOf = createProxyOf(proxies);
  if (!observability.privateDestinations) return { proxyOf };
  return { isAllowed: isPublicOrOwnAddress, protocols: ['https:', 'http:'], proxyOf };
}
