import { lookup as lookupAll, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isPublicAddress } from './public-address.ts';
import { createPublicLookup } from './public-lookup.ts';
import type { ProxyOf } from './proxy/proxies.ts';
import { throughProxies, type FindAddress } from './proxy/tunnel.ts';

/** An address of a caller or a user may not be called. The message is safe to show. */
export class AddressError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AddressError';
  }
}

/** Calls addresses of callers or users, and none in the gateway's own network. */
export interface GuardedAgent {
  readonly dispatcher: Agent;
  /** Without credentials. @param base of a relative address. @throws AddressError */
  admit(address: string, base?: string): URL;
  close(): Promise<void>;
}

export interface GuardedAgentOptions {
  /** Default: addresses of the public Internet only. */
  readonly isAllowed?: (address: string) => boolean;
  /** Default: `https:` alone. */
  readonly protocols?: readonly string[];
  /** Default: name servers; the system's resolver where local hosts are allowed, whose names may stand in its files. */
  readonly lookup?: typeof lookupAll;
  /** Absent: everything is called directly. */
  readonly proxyOf?: ProxyOf | undefined;
}

/**
 * Names of callers that the system's resolver looks up concurrently. It has four threads for the whole process: names whose
 * servers never answer must not block the lookups of upstreams.
 */
const LOOKUPS_AT_ONCE_MAX = 2;
/** Names of callers that are looked up at name servers concurrently. */
const PUBLIC_LOOKUPS_AT_ONCE_MAX = 128;
/** Lookups that wait for their turn, of all callers. */
const LOOKUPS_WAITING_MAX = 256;

/**
 * The address is judged when the connection is made, after DNS, so that a name cannot point elsewhere between the look and
 * the call (DNS rebinding). @spec media-3
 */
export function createGuardedAgent(options: GuardedAgentOptions = {}): GuardedAgent {
  const { isAllowed = isPublicAddress, protocols = ['https:'], proxyOf } = options;
  const isPublicOnly = options.isAllowed === undefined && options.lookup === undefined;
  const lookup = options.lookup ?? (isPublicOnly ? createPublicLookup() : lookupAll);
  const take = createTurns(isPublicOnly ? PUBLIC_LOOKUPS_AT_ONCE_MAX : LOOKUPS_AT_ONCE_MAX, LOOKUPS_WAITING_MAX);
  const schemes = protocols.map((protocol) => protocol.slice(0, -1)).join(' and ');
  const lookupGuarded = guardedLookup(isAllowed, lookup, take);
  // No connection is kept, as HTTP/2 would do: a name that was judged once must be judged again.
  const dispatcher = new Agent({
    connect: proxyOf === undefined ? { lookup: lookupGuarded } : connectByAddress(lookupGuarded, proxyOf),
    pipelining: 0,
    allowH2: false,
  });
  return {
    dispatcher,
    admit(address, base) {
      const url = URL.parse(address, base);
      if (url === null) throw new AddressError('The address is no URL.');
      if (!protocols.includes(url.protocol)) throw new AddressError(`Only ${schemes} addresses are called.`);
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
      // Sockets do not look literal addresses up.
      if (isIP(host) !== 0 && !isAllowed(host)) throw forbidden();
      // Credentials in an address are never sent.
      url.username = '';
      url.password = '';
      return url;
    },
    close: () => dispatcher.destroy(),
  };
}

/** undici wraps what was thrown while connecting in another error. */
export function addressErrorIn(error: unknown): AddressError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof AddressError) return cause;
  return undefined;
}

function forbidden(): AddressError {
  return new AddressError('The address is not on the public Internet.');
}

const CONNECT_MS_MAX = 10_000;

/**
 * A proxy is requested to connect to the address that was judged: it might look a name up to another one. Hosts of the own
 * network, where they are allowed, are called directly.
 */
function connectByAddress(lookup: LookupFunction, proxyOf: ProxyOf): buildConnector.connector {
  const direct = buildConnector({ lookup, timeout: CONNECT_MS_MAX, allowH2: false });
  const ifPublic = (address: unknown): string | undefined =>
    typeof address === 'string' && isPublicAddress(address) ? address : undefined;
  const findAddress: FindAddress = (hostname, found) => {
    // The agent judged an address that is named itself.
    if (isIP(hostname) !== 0) found(null, ifPublic(hostname));
    else lookup(hostname, { all: false }, (error, address) => found(error, ifPublic(address)));
  };
  return throughProxies(direct, proxyOf, { timeoutMs: CONNECT_MS_MAX, findAddress });
}

type Lookup = typeof lookupAll | ReturnType<typeof createPublicLookup>;
type TakeTurn = ReturnType<typeof createTurns>;

function guardedLookup(isAllowed: (address: string) => boolean, lookUp: Lookup, take: TakeTurn): LookupFunction {
  return (hostname, options, callback) => {
    const mayWait = take((done) => {
      lookUp(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
        done();
        const first = addresses?.[0];
        if (error !== null || first === undefined) callback(error ?? new AddressError('The name has no address.'), '');
        // One forbidden address forbids the name: the socket chooses which of them it uses.
        else if (!addresses.every(({ address }) => isAllowed(address))) callback(forbidden(), '');
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      });
    });
    if (!mayWait) callback(new AddressError('Too many addresses are being called.'), '');
  };
}

/** Runs a bounded number concurrently, the others first in, first out. The function that it returns gives false when too many wait. */
function createTurns(atOnceMax: number, waitingMax: number): (start: (done: () => void) => void) => boolean {
  const waiting: ((done: () => void) => void)[] = [];
  let running = 0;
  const next = (): void => {
    running--;
    const first = waiting.shift();
    if (first !== undefined) run(first);
  };
  const run = (start: (done: () => void) => void): void => {
    running++;
    start(next);
  };
  return (start) => {
    if (running < atOnceMax) run(start);
    else if (waiting.length < waitingMax) waiting.push(start);
    else return false;
    return true;
  };
}
