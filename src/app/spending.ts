import { createCredits, type Credits } from '../accounts/limits/credits.ts';
import { createLedger, type Ledger } from '../accounts/limits/ledger.ts';
import { createReconciliations, type Reconciliations } from '../accounts/limits/reconciliations.ts';
import { createRateLimiter, type RateLimiter } from '../accounts/limits/rate-limits.ts';
import { longestRequestMs, type Config } from '../config/config.ts';
import { withTimeout } from '../lib/async/with-timeout.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../store/engine/database.ts';
import type { AppliedRecords } from './applied-records.ts';
import { createLedgerStore, type LedgerTotals } from '../store/usage/ledger.ts';
import type { Spent } from '../accounts/limits/spend-limit.ts';
import type { SharedState } from '../state/contract.ts';
import type { Log } from '../telemetry/logs.ts';
import { sumCounted } from '../store/accounts/issued-keys.ts';

export interface SpendingDeps {
  readonly config: Pick<Config, 'credits' | 'rateLimits' | 'timeouts' | 'responses'>;
  readonly database: Database;
  readonly records: Pick<AppliedRecords, 'wait'>;
  readonly state: Pick<SharedState, 'reservations' | 'rateLimitState'>;
  readonly clock: Clock;
  /** A reservation could not be settled in the shared state. */
  readonly onFailed: (error: unknown) => void;
  readonly log: Log;
}

/** What bounds the use that callers make of the gateway: of money, and of its time. */
export interface Spending {
  readonly ledger: Ledger;
  readonly rateLimiter: RateLimiter;
  readonly credits: Credits;
  /** The durable sum since a time, Unix ms. */
  readonly sumSince: (subject: string, sinceMs: number) => Promise<Spent>;
  /** Absent: credit is not enforced. */
  readonly totals: ((accountId: string) => Promise<LedgerTotals>) | undefined;
  readonly reconciliations: Reconciliations;
  /** Whether sums of spending can be read: `false` since one could not be, until one is. */
  readonly canReadSums: () => Promise<boolean>;
}

/** So long after the longest request what it held of a limit is free again, if its process died. */
const GRACE_MS = 60_000;
/** Less than a request waits for a sum, so that it is known by then that there is none. */
const READ_MS_MAX = 900;
/** As long as a body may take. */
const BODY_GRACE_MS = 300_000;

/** How fast management keys may call. */
export function createManagersLimiter({
  config,
  state,
  clock,
}: Pick<SpendingDeps, 'config' | 'state' | 'clock'>): RateLimiter {
  const limits = { key: config.rateLimits.management, account: {}, free: {} };
  return createRateLimiter({ rateLimitState: state.rateLimitState, clock, limits, slotMs: 0 });
}

export function createSpending(deps: SpendingDeps): Spending {
  const { config, database, records, state, clock, log, onFailed } = deps;
  const store = createLedgerStore({ database });
  const reservationMs = longestRequestMs(config) + GRACE_MS;
  let isBlind = false;
  /** Charges that wait in a journal are in no sum: a limit would be granted anew with every read. */
  const read = async <Value>(sum: () => Promise<Value>): Promise<Value> => {
    try {
      const value = await withTimeout(records.wait().then(sum), READ_MS_MAX);
      isBlind = false;
      return value;
    } catch (error) {
      isBlind = true;
      throw error;
    }
  };
  const sumSince = async (subject: string, sinceMs: number): Promise<Spent> => {
    const windows = { dayStartMs: sinceMs, weekStartMs: sinceMs, monthStartMs: sinceMs };
    const { own, byok } = await sumCounted(database, subject, windows);
    return { ownNanoUsd: own.day, byokNanoUsd: byok.day };
  };
  return {
    sumSince,
    totals: config.credits.enforce ? (accountId) => store.totals(accountId) : undefined,
    canReadSums: async () =>
      !isBlind ||
      (await read(() => store.balance('')).then(
        () => true,
        () => false,
      )),
    ledger: createLedger({
      reservations: state.reservations,
      clock,
      readSpent: (subject, sinceMs) => read(() => sumSince(subject, sinceMs)),
      ...(config.credits.enforce && {
        readBalance: (accountId: string) => read(() => store.balance(accountId)),
      }),
      reservationMs,
      onFailed,
    }),
    credits: createCredits({
      store,
      clock,
      onChange: (accountId) => void state.reservations.forget(`account:${accountId}`).catch(onFailed),
    }),
    reconciliations: createReconciliations({
      store,
      clock,
      onFailed: (error) => log.general.error({ err: error }, 'the books could not be compared'),
    }),
    rateLimiter: createRateLimiter({
      rateLimitState: state.rateLimitState,
      clock,
      limits: config.rateLimits,
      // A place is taken before the body comes.
      slotMs: reservationMs + BODY_GRACE_MS,
    }),
  };
}
