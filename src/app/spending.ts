import { createCredits, type Credits } from '../accounts/limits/credits.ts';
import { createLedger, type Ledger } from '../accounts/limits/ledger.ts';
import { createRateLimiter, type RateLimiter } from '../accounts/limits/rate-limits.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../store/engine/database.ts';
import type { GenerationStore } from '../store/generations/generations.ts';
import { createLedgerStore } from '../store/usage/ledger.ts';
import type { SharedState } from '../state/contract.ts';
import { sumCounted } from '../store/accounts/issued-keys.ts';

export interface SpendingDeps {
  readonly config: Pick<Config, 'credits' | 'rateLimits' | 'timeouts'>;
  readonly database: Database;
  readonly generations: Pick<GenerationStore, 'isBehind'>;
  readonly state: Pick<SharedState, 'reservations' | 'rateLimitState'>;
  readonly clock: Clock;
  /** A reservation could not be settled in the shared state. */
  readonly onFailed: (error: unknown) => void;
}

/** What bounds the use that callers make of the gateway: of money, and of its time. */
export interface Spending {
  readonly ledger: Ledger;
  readonly rateLimiter: RateLimiter;
  readonly credits: Credits;
}

/** So long after the longest request what it held of a limit is free again, if its process died. */
const GRACE_MS = 60_000;
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
  const { config, database, generations, state, clock, onFailed } = deps;
  const store = createLedgerStore({ database });
  const reservationMs = config.timeouts.totalMs + GRACE_MS;
  // Charges that wait are in no sum: a limit would be granted anew with every read.
  const mustBeComplete = (): void => {
    if (generations.isBehind()) throw new Error('Charges wait to be stored.');
  };
  return {
    ledger: createLedger({
      reservations: state.reservations,
      clock,
      async readSpent(subject, sinceMs) {
        mustBeComplete();
        const windows = { dayStartMs: sinceMs, weekStartMs: sinceMs, monthStartMs: sinceMs };
        const { own, byok } = await sumCounted(database, subject, windows);
        return { ownNanoUsd: own.day, byokNanoUsd: byok.day };
      },
      ...(config.credits.enforce && {
        async readBalance(accountId: string) {
          mustBeComplete();
          return store.balance(accountId);
        },
      }),
      reservationMs,
      onFailed,
    }),
    credits: createCredits({
      store,
      clock,
      onChange: (accountId) => void state.reservations.forget(`account:${accountId}`).catch(onFailed),
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
