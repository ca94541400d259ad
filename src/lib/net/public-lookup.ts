import { Resolver, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

export interface PublicLookupOptions {
  /** Addresses of name servers. Default: the machine's. */
  readonly servers?: readonly string[];
}

/** The time limit of one try with one name server. */
const ANSWER_MS = 2_000;
const TRIES_MAX = 2;
const LOCAL_NAME = /^(?:.+\.)?localhost\.?$/i;

type Found = (error: Error | null, addresses: LookupAddress[]) => void;

/**
 * Finds every address of a name on the public Internet with queries to name servers. The system's resolver would occupy one
 * of the process's few threads for each name whose servers do not answer, and the files that it also reads name only hosts
 * of the local network.
 */
export function createPublicLookup({ servers }: PublicLookupOptions = {}): (
  hostname: string,
  options: Parameters<LookupFunction>[1],
  found: Found,
) => void {
  const resolver = new Resolver({ timeout: ANSWER_MS, tries: TRIES_MAX });
  if (servers !== undefined) resolver.setServers(servers);
  return (hostname, _options, found) => {
    // By convention the machine itself; no name server has it.
    if (LOCAL_NAME.test(hostname)) {
      found(null, [{ address: '127.0.0.1', family: 4 }]);
      return;
    }
    const addresses: LookupAddress[] = [];
    let requestedCount = 2;
    const answered =
      (family: 4 | 6) =>
      (error: Error | null, some: readonly string[] | undefined): void => {
        for (const address of some ?? []) addresses.push({ address, family });
        requestedCount--;
        if (requestedCount === 0) found(addresses.length === 0 ? error : null, addresses);
      };
    resolver.resolve4(hostname, answered(4));
    resolver.resolve6(hostname, answered(6));
  };
}
