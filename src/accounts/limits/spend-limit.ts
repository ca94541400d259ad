import { unreachable } from '../../lib/assert.ts';
import type { KeyRow, LimitReset } from '../../resources/keys.ts';
import { openWindows } from './windows.ts';

/**
 * A bound on what somebody may spend. Money is nano-USD.
 * @spec money-39, money-40
 */
export interface SpendLimit {
  /** Whose spending counts: `key:HASH`, `workspace:ID`, `member:ID` or `account:ID`, as the store sums it. */
  readonly subject: string;
  readonly limitNanoUsd: number;
  /** When the count begins anew; null: never. */
  readonly reset: LimitReset | null;
  /** Whether calls on credentials of callers count, at what they would have cost. */
  readonly includesByok: boolean;
  /** Of `account`, the limit is 0 and what is spent is what the entries of the ledger leave owing. */
  readonly kind: 'account' | 'key' | 'issuer' | 'workspace' | 'guardrail';
}

/** What somebody spent on the gateway's own credentials, and what calls on their own would have cost. Nano-USD. */
export interface Spent {
  readonly ownNanoUsd: number;
  readonly byokNanoUsd: number;
}

/** The limit of a key. What was spent by the keys that it issued counts too. */
export function spendLimitOf(
  kind: 'key' | 'issuer',
  keyHash: string,
  limitNanoUsd: number,
  { limitReset: reset, includeByokInLimit: includesByok }: Pick<KeyRow, 'limitReset' | 'includeByokInLimit'>,
): SpendLimit {
  return { subject: `key:${keyHash}`, kind, limitNanoUsd, reset, includesByok };
}

/** When the running window of a limit began, Unix ms; 0 where it has none. */
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
 * The name under which holds and spending of one limit in one window are counted: a new window is a new name, and so
 * are two limits of one subject that count differently.
 */
export function countedName({ subject, reset, includesByok }: SpendLimit, startMs: number): string {
  return `${subject}:${reset ?? 'ever'}:${startMs}${includesByok ? ':byok' : ''}`;
}

/** What of somebody's spending a limit counts. */
export function countedSpend(limit: SpendLimit, { ownNanoUsd, byokNanoUsd }: Spent): number {
  return limit.includesByok ? ownNanoUsd + byokNanoUsd : ownNanoUsd;
}
