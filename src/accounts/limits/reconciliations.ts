import { randomUUID } from 'node:crypto';
import { GatewayError } from '../../canonical/gateway-error.ts';
import type { Clock } from '../../lib/clock.ts';
import type { LedgerStore } from '../../store/usage/ledger.ts';

type Compared = Awaited<ReturnType<LedgerStore['verify']>>;

/** A comparison of both sides of the books, which reads every row. */
export interface Reconciliation {
  readonly id: string;
  readonly status: 'running' | 'agrees' | 'differs' | 'failed';
  readonly startedAtMs: number;
  /** Null: it runs. */
  readonly endedAtMs: number | null;
  /** Null: it runs, or it failed. */
  readonly compared: Compared | null;
}

/** Reconciliations of this process. One runs at a time: it reads for as long as the books are. */
export interface Reconciliations {
  /** Starts one, or returns the one that runs. */
  start(accountId: string): Reconciliation;
  /** @throws GatewayError 404: there is none, or newer ones took its place */
  find(accountId: string, id: string): Reconciliation;
}

export interface ReconciliationsDeps {
  readonly store: Pick<LedgerStore, 'verify'>;
  readonly clock: Clock;
  readonly onFailed: (error: unknown) => void;
}

const KEPT_MAX = 20;

export function createReconciliations({ store, clock, onFailed }: ReconciliationsDeps): Reconciliations {
  /** By account and id, the oldest first. */
  const kept = new Map<string, Reconciliation>();
  const nameOf = (accountId: string, id: string): string => `${accountId} ${id}`;
  const running = new Map<string, Reconciliation>();

  function keep(accountId: string, reconciliation: Reconciliation): void {
    kept.set(nameOf(accountId, reconciliation.id), reconciliation);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
  }

  async function run(accountId: string, started: Reconciliation): Promise<void> {
    try {
      const compared = await store.verify(accountId);
      const status = compared.differences.length === 0 ? 'agrees' : 'differs';
      keep(accountId, { ...started, status, endedAtMs: clock.nowMs(), compared });
    } catch (error) {
      onFailed(error);
      keep(accountId, { ...started, status: 'failed', endedAtMs: clock.nowMs() });
    }
    running.delete(accountId);
  }

  return {
    start(accountId) {
      const known = running.get(accountId);
      if (known !== undefined) return known;
      const started: Reconciliation = {
        id: randomUUID(),
        status: 'running',
        startedAtMs: clock.nowMs(),
        endedAtMs: null,
        compared: null,
      };
      running.set(accountId, started);
      keep(accountId, started);
      void run(accountId, started);
      return started;
    },
    find(accountId, id) {
      const found = kept.get(nameOf(accountId, id));
      if (found === undefined)
        throw new GatewayError('not_found', `There is no reconciliation ${id} in this process. Start another one.`);
      return found;
    },
  };
}
