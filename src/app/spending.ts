import { createCredits, type Credits } from '../accounts/credits.ts';
import { createLedger, type Ledger } from '../accounts/ledger.ts';
import { createRateLimiter, type RateLimiter } from '../accounts/rate-limits.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../store/database.ts';
import type { GenerationStore } from '../store/generations.ts';
import { createLedgerStore } from '../store/ledger.ts';
import type { SharedState } from '../store/shared/contract.ts';
import { sumSpend } from '../store/spend.ts';

export interface SpendingParts {
  readonly config: Pick<Config, 'credits' | 'rateLimits' | 'timeouts'>;
  readonly database: Database;
  readonly generations: Pick<GenerationStore, 'isBehind'>;
  readonly state: Pick<SharedState, 'holds' | 'gate'>;
  readonly clock: Clock;
  /** What was held could not be told of its charge. */
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

/** How fast management keys may call. */
export function createManagersLimiter({
  config,
  state,
  clock,
}: Pick<SpendingParts, 'config' | 'state' | 'clock'>): RateLimiter {
  const limits = { key: config.rateLimits.management, account: {}, free: {} };
  return createRateLimiter({ gate: state.gate, clock, limits, slotMs: 0 });
}

export function createSpending(parts: SpendingParts): Spending {
  const { config, database, generations, state, clock, onFailed } = parts;
  const store = createLedgerStore({ database });
  const holdMs = config.timeouts.totalMs + GRACE_MS;
  // Charges that wait are in no sum: a limit would be granted anew with every read.
  const mustBeComplete = (): void => {
    if (generations.isBehind()) throw new Error('Charges wait to be stored.');
  };
  return {
    ledger: createLedger({
      holds: state.holds,
      clock,
      async readSpent(subject, sinceMs) {
        mustBeComplete();
        const windows = { dayStartMs: sinceMs, weekStartMs: sinceMs, monthStartMs: sinceMs };
        const spent = (await sumSpend(database, [subject], windows)).get(subject);
        return { ownNanoUsd: spent?.own.day ?? 0, byokNanoUsd: spent?.byok.day ?? 0 };
      },
      ...(config.credits.enforce && {
        async readBalance(accountId: string) {
          mustBeComplete();
          return store.balance(accountId);
        },
      }),
      holdMs,
      onFailed,
    }),
    credits: createCredits({
      store,
      clock,
      onChange: (accountId) => void state.holds.forget(`account:${accountId}`).catch(onFailed),
    }),
    rateLimiter: createRateLimiter({
      gate: state.gate,
      clock,
      limits: config.rateLimits,
      slotMs: holdMs,
    }),
  };
}
