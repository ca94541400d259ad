import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** Hosts of one secret. @spec vault-3 */
export const HOSTS_MAX = 100;
const HOST_CHARS_MAX = 253;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const PUBLIC_HOST = new RegExp(String.raw`^(?:${LABEL}\.)+[a-z0-9-]{2,63}$`);
const ANY_HOST = new RegExp(String.raw`^${LABEL}(?:\.${LABEL})*$`);
/** Names that resolve within a machine or a private network alone. */
const PRIVATE_HOST = /(?:^|\.)(?:localhost|local|internal|intranet|home|lan|corp|home\.arpa)$/;

/**
 * Normalises an exact host name: lower case, Punycode, without a final dot.
 * @returns a clause that says what is wrong in place of a host
 */
export function parseHost(
  text: string,
  { allowPrivate }: { readonly allowPrivate: boolean },
): { readonly host: string } | { readonly wrong: string } {
  if (/[/:@?#*\s]/.test(text))
    return { wrong: 'must be a host name alone, without a scheme, port, path, user or wildcard' };
  const host = domainToASCII(text.toLowerCase().replace(/\.$/, ''));
  if (host === '' || host.length > HOST_CHARS_MAX || !ANY_HOST.test(host)) return { wrong: 'is no DNS name' };
  // "127.1" and "0x7f000001" are addresses to a URL.
  if (isIP(host) !== 0 || /^[\d.]+$/.test(host) || host.split('.').at(-1)?.startsWith('0x') === true)
    return { wrong: 'must be a DNS name, not an address' };
  if (!allowPrivate && (!PUBLIC_HOST.test(host) || PRIVATE_HOST.test(host)))
    return { wrong: 'is a name of a private network; vault.allow_private_hosts in the configuration allows those' };
  return { host };
}
