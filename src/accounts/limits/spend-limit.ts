import { unreachable } from '../../lib/assert.ts';
import type { KeyRow, LimitReset } from '../../resources/keys.ts';
import { openWindows } from './windows.ts';

/**
 * A limit on the spending of a subject. Money is nano-USD.
 * @spec money-39, money-40
 */
export interface SpendLimit {
  /** The subject that spends: `key:HASH`, `workspace:ID`, `member:ID` or `account:ID`, as the store sums it. */
  readonly subject: string;
  readonly limitNanoUsd: number;
  /** When the count restarts; null: never. */
  readonly reset: LimitReset | null;
  /** Whether calls with callers' credentials count, at what they would have cost. */
  readonly includesByok: boolean;
  /** For `account`, the limit is 0 and the spending is the debt of the ledger's entries. */
  readonly kind: 'account' | 'key' | 'issuer' | 'workspace' | 'guardrail';
}

/** Spending with the gateway's own credentials, and what calls with callers' credentials would have cost. Nano-USD. */
export interface Spent {
  readonly ownNanoUsd: number;
  readonly byokNanoUsd: number;
}

/** Bounds of the cost of one request. */
export interface CostBound {
  /** The highest cost: with the gateway's own credentials, and with callers' credentials at list price. */
  readonly worst: Spent;
  /** The rest that a request needs to begin, where its response is cut to what is reserved. Absent: all of `worst`. */
  readonly least?: Spent;
  /** The response tokens in `least`; absent: the caller has set a bound. */
  readonly leastTokens?: number;
  /** A quarter of the rest is reserved, or this much where that is more. Absent: `worst`, as far as the rest allows. */
  readonly share?: Spent;
  /** How many response tokens so much money buys. */
  readonly affordableTokens: (nanoUsd: number) => number;
  /** The part of `worst`, `least` and `share` that a running request has cost already. Absent: nothing. */
  readonly spent?: Spent;
}

/** Even a free request needs this much of a limit; the credit of an account may be at 0. @spec money-28 */
export const LEFT_NANO_USD_MIN = 1;

/** The limit of a key. The spending of the keys that it issued counts too. */
export function spendLimitOf(
  kind: 'key' | 'issuer',
  keyHash: string,
  limitNanoUsd: number,
  { limitReset: reset, includeByokInLimit: includesByok }: Pick<KeyRow, 'limitReset' | 'includeByokInLimit'>,
): SpendLimit {
  return { subject: `key:${keyHash}`, kind, limitNanoUsd, reset, includesByok };
}

/** Returns when the current window of a limit began, Unix ms; 0 where it has none. */
export function windowStartMs(reset: LimitReset | null, nowMs: number): number {
  const windows = openWindows(nowMs);
  switch (reset) {
    case 'daily':
      return windows.dayStartMs;
    case 'weekly':
      return windows.weekStartMs;
    case 'monthly':
      return windows.monthStartMs;
    case null:
      return 0;
    default:
      return unreachable(reset);
  }
}

/**
 * Makes the name that reservations and spending of one limit in one window are counted under: a new window has a new
 * name, and so have two limits of one subject that count differently.
 */
export function countedName({ subject, reset, includesByok }: SpendLimit, startMs: number): string {
  return `${subject}:${reset ?? 'ever'}:${startMs}${includesByok ? ':byok' : ''}`;
}

/** Picks the part of the spending that a limit counts. */
export function countedSpend(limit: SpendLimit, { ownNanoUsd, byokNanoUsd }: Spent): number {
  return limit.includesByok ? ownNanoUsd + byokNanoUsd : ownNanoUsd;
}
