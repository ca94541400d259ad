import { isIPv6 } from 'node:net';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { assert } from '../../lib/assert.ts';
import type { Clock } from '../../lib/clock.ts';
import type { RateLimitState } from '../../state/contract.ts';
import { emailKeyOf } from '../people/people.ts';
import { tooFast } from '../limits/rate-limits.ts';
import { digestOf } from './secrets.ts';

/** @spec console-5 */
const WRONG_PER_ADDRESS_MAX = 5;
const WRONG_IN_ALL_MAX = 50;
const REPORTS_PER_ADDRESS_MAX = 1;
const REPORTS_IN_ALL_MAX = 10;
/** Over months of guessing it is what counts; it does not stop links and identity providers. @spec people-7 */
const WRONG_PER_ACCOUNT_MAX = 30;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Bounds how many wrong keys and links may be tried. Every process that shares the state counts together. */
export interface SignInLimit {
  /**
   * Runs a try, which counts where it ends with 401.
   * @param account whose password is tried: its tries count together, wherever they come from and whether it exists or not
   * @throws GatewayError 429 before it runs when too many have failed
   */
  attempt<Value>(address: string, task: () => Promise<Value>, account?: string): Promise<Value>;
}

export interface SignInLimitDeps {
  readonly rateLimitState: RateLimitState;
  readonly clock: Clock;
  /** Tries from this address are refused unseen; called once a minute for an address, and ten times in all. */
  readonly onRefused: (address: string) => Promise<void>;
}

export function createSignInLimit({ rateLimitState, clock, onRefused }: SignInLimitDeps): SignInLimit {
  async function report(address: string): Promise<void> {
    const rates = ratesOf('refused', address, REPORTS_PER_ADDRESS_MAX, REPORTS_IN_ALL_MAX);
    if ((await rateLimitState.acquire({ rates })).ok) await onRefused(address);
  }
  return {
    async attempt(address, task, account) {
      const from = networkOf(address);
      const rates = [
        ...ratesOf('wrong', from, WRONG_PER_ADDRESS_MAX, WRONG_IN_ALL_MAX),
        ...(account === undefined ? [] : [rateOfAccount(account)]),
      ];
      const answer = await rateLimitState.acquire({ rates });
      if (!answer.ok) {
        assert(answer.by === 'rates', 'a try takes no slot');
        await report(from);
        const period = answer.limit === WRONG_PER_ACCOUNT_MAX ? 'an hour' : 'a minute';
        throw tooFast(`The limit of failed sign-ins is reached: ${answer.limit} ${period}`, answer, clock);
      }
      const giveBack = (): Promise<void> => answer.permit.end(new Map(rates.map(({ subject }) => [subject, 0])));
      try {
        const value = await task();
        await giveBack();
        return value;
      } catch (error) {
        // A database that is away says nothing about the proof.
        if (!(error instanceof GatewayError && error.status === 401)) await giveBack();
        throw error;
      }
    },
  };
}

function ratesOf(what: string, address: string, perAddress: number, inAll: number) {
  const [one, all] = [`sign-in:${what}:${address}`, `sign-in:${what}`];
  return [
    { owner: one, subject: `${one}:minute`, limit: perAddress, periodMs: MINUTE_MS, take: 1 },
    { owner: all, subject: `${all}:minute`, limit: inAll, periodMs: MINUTE_MS, take: 1 },
  ];
}

/** Whatever is typed as an address becomes a name of fixed length. */
function rateOfAccount(account: string) {
  const owner = `sign-in:wrong:account:${digestOf(emailKeyOf(account))}`;
  return { owner, subject: `${owner}:hour`, limit: WRONG_PER_ACCOUNT_MAX, periodMs: HOUR_MS, take: 1 };
}

const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const IPV6_SITE_GROUPS = 4;

/** What one caller can choose among: of IPv6 the network of 64 bits, of IPv4 the address alone. */
export function networkOf(address: string): string {
  const [, mapped] = IPV4_IN_IPV6.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  return isIPv6(address) ? `${groupsOf(address).slice(0, IPV6_SITE_GROUPS).join(':')}::/64` : address;
}

const IPV6_GROUPS = 8;
const IPV6_PREFIX_GROUPS = 3;
const UNKNOWN_ADDRESS = 'unknown';

/** An address without the part that names one machine, to recognise a session by: `192.0.2.0/24`. */
export function addressPrefixOf(address: string): string {
  const [, mapped] = IPV4_IN_IPV6.exec(address) ?? [];
  if (mapped === undefined && isIPv6(address))
    return `${groupsOf(address).slice(0, IPV6_PREFIX_GROUPS).join(':')}::/48`;
  const parts = (mapped ?? address).split('.');
  return parts.length === 4 ? `${parts.slice(0, 3).join('.')}.0/24` : UNKNOWN_ADDRESS;
}

/** The eight groups of an IPv6 address, `::` written out. */
function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const [first, last] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const gap = tail === undefined ? 0 : Math.max(IPV6_GROUPS - (first?.length ?? 0) - (last?.length ?? 0), 0);
  return [...(first ?? []), ...Array<string>(gap).fill('0'), ...(last ?? [])];
}
