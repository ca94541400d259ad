import { proxyErrorIn, type ProxyError } from '../../lib/net/proxy/tunnel.ts';
import { TransportError } from '../../lib/net/http-client.ts';

/** Codes of Node's TLS that mean the certificate, not the connection. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS_CERT_ALTNAME_INVALID/;
/** What a server that speaks no TLS does to a handshake, and one that does to a plain request. */
const NO_TLS = /WRONG_VERSION_NUMBER|ERR_SSL|EPROTO/;

/** Why no answer came, as a clause that names the host and what to do. */
export function explainConnection(error: unknown, baseUrl: string): string {
  const { host, hostname, protocol } = new URL(baseUrl);
  const refused = proxyErrorIn(error);
  if (refused !== undefined) return explainProxy(refused);
  const code = codeOf(error);
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `the name ${hostname} is not known to DNS (${code}): check base_url, and this machine's network`;
  if (code === 'ECONNREFUSED') return `nothing listens at ${host}: is it running, and is base_url right?`;
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH')
    return `there is no way to ${host} (${code}): check this machine's network`;
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || kindOf(error) === 'connect-timeout')
    return `${host} did not take the connection in time: a firewall, or a proxy that is missing?`;
  if (CERTIFICATE.test(code))
    return `the certificate of ${host} is not trusted (${code}): NODE_EXTRA_CA_CERTS names a file with further authorities`;
  if (NO_TLS.test(code)) return `${host} does not speak TLS: http:// in place of https:// in base_url?`;
  if (kindOf(error) === 'protocol') return `${host} does not speak HTTP: ${otherScheme(protocol)}`;
  if (kindOf(error) === 'reset') return `${host} closed the connection without a response: ${otherScheme(protocol)}`;
  return `${host} could not be reached${code === '' ? '' : ` (${code})`}`;
}

function explainProxy({ message, status }: ProxyError): string {
  if (status === undefined) return `${message}: check HTTPS_PROXY and HTTP_PROXY`;
  if (status === 407) return `${message}: check user and password in HTTPS_PROXY and HTTP_PROXY`;
  return `${message}: does it allow this host? NO_PROXY names hosts that are called directly`;
}

function otherScheme(protocol: string): string {
  return protocol === 'http:' ? 'https:// in place of http:// in base_url?' : 'is base_url right?';
}

function kindOf(error: unknown): TransportError['kind'] | undefined {
  return error instanceof TransportError ? error.kind : undefined;
}

const CAUSES_MAX = 5;

/** Of the system's error behind the client's. Where several addresses were tried, the first one's. */
function codeOf(error: unknown): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < CAUSES_MAX; cause = cause.cause, depth++) {
    if ('code' in cause && typeof cause.code === 'string' && cause.code !== '') return cause.code;
    if (cause instanceof AggregateError) return codeOf(cause.errors[0]);
  }
  return '';
}
