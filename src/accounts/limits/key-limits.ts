import type { Clock } from '../../lib/clock.ts';
import type { KeyRow } from '../../resources/keys.ts';
import type { LedgerTotals } from '../../store/usage/ledger.ts';
import type { Policy } from '../policy/policy.ts';
import type { PolicySubject } from '../../store/accounts/policy-layers.ts';
import { DEFAULT_ACCOUNT_ID } from '../principal.ts';
import { windowEndMs } from './windows.ts';
import { countedName, countedSpend, spendLimitOf, windowStartMs, type SpendLimit, type Spent } from './spend-limit.ts';

/** One limit on what a key may spend, with what is spent of it. Nano-USD. */
export interface KeyLimit extends Pick<SpendLimit, 'kind' | 'subject' | 'reset' | 'limitNanoUsd'> {
  readonly spentNanoUsd: number;
  /** Below zero when it was overspent. */
  readonly leftNanoUsd: number;
  /** Unix ms. Null: it never restarts. */
  readonly resetsAtMs: number | null;
}

/** A key as its limits depend on it; one from the environment has no row. */
export type LimitedKey = Pick<
  KeyRow,
  'hash' | 'workspaceId' | 'creatorUserId' | 'limitNanoUsd' | 'limitReset' | 'includeByokInLimit'
>;

/** Which limits a key has, of all layers: its own, those of its workspace, of guardrails, and the credit of the account. */
export interface KeyLimits {
  /** Of each key, the one with the least left first. @throws GatewayError 503 while rules cannot be read */
  of(keys: readonly LimitedKey[]): Promise<ReadonlyMap<string, readonly KeyLimit[]>>;
}

export interface KeyLimitsDeps {
  readonly policyOf: (subject: PolicySubject) => Policy | Promise<Policy>;
  /** The sum since a time, Unix ms. */
  readonly sumSince: (subject: string, sinceMs: number) => Promise<Spent>;
  /** Absent: credit is not enforced. */
  readonly totals: ((accountId: string) => Promise<LedgerTotals>) | undefined;
  readonly clock: Clock;
}

export function createKeyLimits(deps: KeyLimitsDeps): KeyLimits {
  return {
    async of(keys) {
      const nowMs = deps.clock.nowMs();
      // Keys of one workspace share its limits: each sum is read once.
      const sums = new Map<string, Promise<KeyLimit>>();
      const account = deps.totals === undefined ? [] : [await readCredit(deps.totals)];
      const found = await Promise.all(
        keys.map(async (key) => {
          const policy = await deps.policyOf(subjectOf(key));
          const own = await Promise.all(
            [...ownLimitOf(key), ...policy.limits].map((limit) => readOnce(deps, sums, limit, nowMs)),
          );
          const all = [...own, ...account].toSorted((one, other) => one.leftNanoUsd - other.leftNanoUsd);
          return [key.hash, all] as const;
        }),
      );
      return new Map(found);
    },
  };
}

function subjectOf({ hash, workspaceId, creatorUserId }: LimitedKey): PolicySubject {
  return { keyHash: hash, workspaceId, memberId: creatorUserId };
}

function ownLimitOf(key: LimitedKey): readonly SpendLimit[] {
  return key.limitNanoUsd === null ? [] : [spendLimitOf('key', key.hash, key.limitNanoUsd, key)];
}

function readOnce(
  deps: Pick<KeyLimitsDeps, 'sumSince'>,
  sums: Map<string, Promise<KeyLimit>>,
  limit: SpendLimit,
  nowMs: number,
): Promise<KeyLimit> {
  const name = `${limit.kind} ${limit.limitNanoUsd} ${countedName(limit, windowStartMs(limit.reset, nowMs))}`;
  const reading = sums.get(name) ?? readLimit(deps, limit, nowMs);
  sums.set(name, reading);
  return reading;
}

async function readLimit(
  { sumSince }: Pick<KeyLimitsDeps, 'sumSince'>,
  limit: SpendLimit,
  nowMs: number,
): Promise<KeyLimit> {
  const { kind, subject, reset, limitNanoUsd } = limit;
  const spentNanoUsd = countedSpend(limit, await sumSince(subject, windowStartMs(reset, nowMs)));
  const leftNanoUsd = limitNanoUsd - spentNanoUsd;
  return {
    kind,
    subject,
    reset,
    limitNanoUsd,
    spentNanoUsd,
    leftNanoUsd,
    resetsAtMs: reset === null ? null : windowEndMs(reset, nowMs),
  };
}

async function readCredit(totals: NonNullable<KeyLimitsDeps['totals']>): Promise<KeyLimit> {
  const { credits, usage } = await totals(DEFAULT_ACCOUNT_ID);
  return {
    kind: 'account',
    subject: `account:${DEFAULT_ACCOUNT_ID}`,
    reset: null,
    limitNanoUsd: credits,
    spentNanoUsd: usage,
    leftNanoUsd: credits - usage,
    resetsAtMs: null,
  };
}
