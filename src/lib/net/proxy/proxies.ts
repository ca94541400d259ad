import { BlockList, isIP } from 'node:net';
import { isLoopbackName } from '../loopback-name.ts';

/** Proxies between the gateway and the Internet, as `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` name them. */
export interface ProxySettings {
  /** Addresses of the proxies, perhaps with credentials, by the scheme of what is called. */
  readonly https?: string;
  readonly http?: string;
  /** What is called directly: entries of `NO_PROXY`. */
  readonly except: readonly string[];
}

/** What a connection is made to. */
export interface ConnectTarget {
  /** `https:` or `http:`. */
  readonly protocol: string;
  /** In lower case; an IPv6 address without brackets. */
  readonly hostname: string;
  /** Absent or empty: the one of the protocol. */
  readonly port?: string | undefined;
}

/** The proxy on the way to a target; `undefined`: it is called directly. */
export type ProxyOf = (target: ConnectTarget) => URL | undefined;

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/**
 * This machine itself is never called through a proxy. Names are compared as they stand, without DNS. `undefined`: no proxy.
 * @source curl's manual page, "ENVIRONMENT" (`NO_PROXY`), read 2026-11
 */
export function createProxyOf(settings: ProxySettings | undefined): ProxyOf | undefined {
  if (settings === undefined) return undefined;
  const { https, http, except } = settings;
  const proxies: Readonly<Record<string, URL | undefined>> = {
    'https:': https === undefined ? undefined : new URL(https),
    'http:': http === undefined ? undefined : new URL(http),
  };
  const rules = except.map(ruleOf);
  return (target) => {
    const proxy = proxies[target.protocol];
    if (proxy === undefined || isLoopbackName(target.hostname) || target.hostname === '::1') return undefined;
    const port = target.port === undefined || target.port === '' ? DEFAULT_PORTS[target.protocol] : target.port;
    return rules.some((excepts) => excepts(target.hostname, port)) ? undefined : proxy;
  };
}

type Rule = (hostname: string, port: string | undefined) => boolean;

/** `host`, also its subdomains; `.host` and `*.host` the same; `host:port`; an address; a network (`10.0.0.0/8`); `*`. */
function ruleOf(entry: string): Rule {
  if (entry === '*') return () => true;
  const network = networkOf(entry);
  if (network !== undefined) return (hostname) => isIP(hostname) !== 0 && network.check(hostname, familyOf(hostname));
  const [, bracketed, host = '', port] = /^(?:\[(.+)\]|(.+?))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const name = (bracketed ?? host).replace(/^\*?\./, '').toLowerCase();
  return (hostname, requestedPort) =>
    (port === undefined || port === requestedPort) && (hostname === name || hostname.endsWith(`.${name}`));
}

function networkOf(entry: string): BlockList | undefined {
  const [, address = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
  const list = new BlockList();
  // An address alone is a network as well, so that each way to write IPv6 means the same.
  if (isIP(entry) !== 0) list.addAddress(entry, familyOf(entry));
  else if (isIP(address) !== 0 && Number(bits) <= (isIP(address) === 4 ? 32 : 128))
    list.addSubnet(address, Number(bits), familyOf(address));
  else return undefined;
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
