import { VaultError } from '../canonical/vault-reference.ts';

const HTTPS_PORTS: ReadonlySet<string> = new Set(['', '443']);

/** Mail, in TLS from the first byte or by STARTTLS, and mail that may go without. */
const MAIL: Readonly<Record<string, 'tls' | 'plain'>> = { 'smtps:': 'tls', 'smtp:': 'plain' };

/** What a secret may be sent to. */
export interface BoundSecret {
  readonly name: string;
  /** Null: to no host. */
  readonly hosts: readonly string[] | null;
}

/**
 * Checks that a secret may go to an address: over TLS, to one of its hosts, exactly. `vault.allow_private_hosts` admits
 * plain HTTP and other ports, which private networks have.
 * @throws VaultError
 */
export function checkRelease({ name, hosts }: BoundSecret, address: string, allowPrivate: boolean): void {
  const url = URL.parse(address);
  const refuse = (why: string): never => {
    throw new VaultError(
      'vault_host_mismatch',
      `The secret "${name}" of the vault is not sent to ${hostOf(url)}: ${why}.`,
    );
  };
  const mail = url === null ? undefined : MAIL[url.protocol];
  if (url === null || (mail === undefined && url.protocol !== 'https:' && url.protocol !== 'http:'))
    return refuse('it is no web address');
  if (!allowPrivate && mail === 'plain') return refuse('mail may go there without TLS');
  if (!allowPrivate && mail === undefined && url.protocol !== 'https:')
    return refuse('the address must begin with https://');
  if (!allowPrivate && mail === undefined && !HTTPS_PORTS.has(url.port)) return refuse('the port must be 443');
  if (hosts === null) return refuse('it is bound to no host; store it again with its hosts');
  if (!hosts.includes(hostOf(url))) return refuse('the host is not among its hosts');
}

/** As it was resolved and compared: without a final dot. */
function hostOf(url: URL | null): string {
  return url === null ? 'this address' : url.hostname.replace(/\.$/, '');
}
