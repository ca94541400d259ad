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
// 6to4 carry an IPv4 address that is not checked here.
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

/** Whether an IP address belongs to the public Internet. Any other may be a host of the gateway's own network. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !special.check(address, 'ipv4');
  if (version !== 6 || !globalUnicast.check(address, 'ipv6')) return false;
  return !special.check(address, 'ipv6') && !endsWithMetadata(address);
}

// RFC 1918, RFC 4193, RFC 6598 (of which overlay networks take their addresses) and loopback. What belongs to the
// machine's host alone (169.254.0.0/16, fe80::/10) is not among them.
const OWN_NETWORKS: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['::1', 128, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
];
const own = new BlockList();
for (const [network, prefix, version] of OWN_NETWORKS) own.addSubnet(network, prefix, version);
/*
 * Where clouds hand credentials to machines, inside ranges of private networks, with the addresses around them. All clouds
 * have 169.254.169.254 too, which is in no private range. Vendors' pages on instance metadata, read 2026-11: AWS
 * fd00:ec2::254 and, for pods, ::23; Google Cloud fd20:ce::254; Oracle fd00:c1::a9fe:a9fe; Scaleway fd00:42::42; Alibaba
 * 100.100.100.200.
 */
const METADATA_NETWORKS: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['100.100.100.0', 24, 'ipv4'],
  ['fd00:ec2::', 32, 'ipv6'],
  ['fd20:ce::', 32, 'ipv6'],
  ['fd00:c1::', 32, 'ipv6'],
  ['fd00:42::', 32, 'ipv6'],
];
const metadata = new BlockList();
for (const [network, prefix, version] of METADATA_NETWORKS) metadata.addSubnet(network, prefix, version);
// The IPv4 addresses of such places, which may be the end of an address of a network's own NAT64 (RFC 6052, 2.2).
const METADATA_V4: readonly (readonly [string, number])[] = [
  ['100.100.100.0', 24],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['192.0.0.192', 32],
];
const metadataV4 = new BlockList();
for (const [network, prefix] of METADATA_V4) metadataV4.addSubnet(network, prefix, 'ipv4');

/**
 * Whether an IP address is public or of an operator's own network. Metadata addresses, at which clouds hand out credentials,
 * are neither, in whichever form they are written.
 */
export function isPublicOrOwnAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4)
    return isPublicAddress(address) || (own.check(address, 'ipv4') && !metadata.check(address, 'ipv4'));
  if (version !== 6 || endsWithMetadata(address)) return false;
  return isPublicAddress(address) || (own.check(address, 'ipv6') && !metadata.check(address, 'ipv6'));
}

/** Whether the last 32 bits are a metadata address in IPv4. */
function endsWithMetadata(address: string): boolean {
  // With a zone it is link-local; `URL` knows no zones.
  const host = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
  if (host === undefined) return true;
  const [head = '', tail] = host.split('::');
  const groups = (tail === undefined ? head : tail).split(':').filter((group) => group !== '');
  const [high = 0, low = 0] = ['0', '0', ...groups].slice(-2).map((group) => Number.parseInt(group, 16));
  return metadataV4.check([high >> 8, high & 255, low >> 8, low & 255].join('.'), 'ipv4');
}

/** Ends of names that mean something else in each network. RFC 6761, RFC 6762, RFC 8375; ICANN kept `.internal` for that, 2024-07. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * Whether an address may be passed to another service to open: a page of the public web, as far as the address alone shows.
 * A name may still resolve to any address, which the service that opens it has to check.
 */
export function isPublicWebAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return false;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes('.') && !PRIVATE_NAME.test(host);
}
