import type { Config } from '../../config/config.ts';
import type { GuardedAgentOptions } from '../../lib/net/guarded-agent.ts';
import { isPublicOrOwnAddress } from '../../lib/net/public-address.ts';

/** Which addresses may be called that users chose: the operator may use its own network, but never the addresses of cloud credentials. */
export function destinationAddresses({ observability }: Pick<Config, 'observability'>): GuardedAgentOptions {
  return observability.privateDestinations ? { isAllowed: isPublicOrOwnAddress, protocols: ['https:', 'http:'] } : {};
}
