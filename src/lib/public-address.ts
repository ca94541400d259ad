import { BlockList, isIP } from 'node:net';

// IANA "IPv4 Special-Purpose Address Registry", read 2026-11, and multicast.
const SPECIAL_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Not in the registry: Azure's own services for each of its machines. learn.microsoft.com "What is IP address
  // 168.63.129.16", read 2026-11
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];
// IANA "IPv6 Special-Purpose Address Registry", read 2026-11: what lies inside global unicast and is not it. Teredo and
// 6to4 carry an IPv4 address that nobody has checked.
const SPECIAL_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const special = new BlockList();
for (const [network, prefix] of SPECIAL_V4) special.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of SPECIAL_V6) special.addSubnet(network, prefix, 'ipv6');
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address belongs to the public Internet. Everything else may be a neighbour of the gateway. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  return version === 6 && globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

// RFC 1918, RFC 4193 and loopback. What belongs to the machine's host alone (169.254.0.0/16, fe80::/10) is not among them.
const OWN_NETWORKS: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['10.0.0.0', 8, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['::1', 128, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
];
const own = new BlockList();
for (const [network, prefix, version] of OWN_NETWORKS) own.addSubnet(network, prefix, version);
// Clouds tell their machines' secrets there. docs.aws.amazon.com "Instance metadata service", read 2026-11
const METADATA_V6 = 'fd00:ec2::254';
const metadata = new BlockList();
metadata.addAddress(METADATA_V6, 'ipv6');

/**
 * The same, or one of an operator's own network. Addresses at which clouds tell machines their credentials are neither.
 */
export function isPublicOrOwnAddress(address: string): boolean {
  if (isPublicAddress(address)) return true;
  const version = isIP(address);
  if (version === 4) return own.check(address, 'ipv4');
  return version === 6 && own.check(address, 'ipv6') && !metadata.check(address, 'ipv6');
}

/** Ends of names that mean something else in each network. RFC 6761, RFC 6762, RFC 8375; ICANN kept `.internal` for that, 2024-07. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * Whether somebody else may be asked to open it: a page of the web, as far as the address alone tells. A name may still stand
 * for any address, which whoever opens it has to look at.
 */
export function isPublicWebAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return false;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes('.') && !PRIVATE_NAME.test(host);
}
