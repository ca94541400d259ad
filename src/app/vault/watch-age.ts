import { createHousekeeping, type Housekeeping } from '../../lib/async/housekeeping.ts';
import type { Clock } from '../../lib/clock.ts';
import type { NewEvent } from '../../notifications/raise.ts';
import type { VaultSecretRow } from '../../store/vault/columns.ts';
import type { VaultSecretStore } from '../../store/vault/vault-secrets.ts';
import { isStale } from '../../vault/stale.ts';

const EVERY_MS = 600_000;
/** Secrets of all scopes that one look takes. */
const LOOKED_AT_MAX = 10_000;
const MS_PER_DAY = 86_400_000;

/** Reports each value once that is older than `vault.max_age_days`. Its mark is that of the value: another one begins anew. */
export function createAgeWatch({
  store,
  maxAgeMs,
  clock,
  raise,
  onFailed,
  everyMs = EVERY_MS,
}: {
  readonly store: Pick<VaultSecretStore, 'all'>;
  readonly maxAgeMs: number | undefined;
  readonly clock: Clock;
  readonly raise: (event: NewEvent) => Promise<void>;
  readonly onFailed: (error: unknown) => void;
  readonly everyMs?: number;
}): Housekeeping {
  async function look(): Promise<boolean> {
    if (maxAgeMs === undefined) return false;
    const nowMs = clock.nowMs();
    const rows = await store.all(LOOKED_AT_MAX);
    for (const row of rows) if (isStale(row, maxAgeMs, nowMs)) await raise(eventOf(row, nowMs));
    return false;
  }
  return createHousekeeping({ work: look, everyMs, pauseMs: everyMs, onFailed });
}

function eventOf({ scopeKind, scopeId, name, updatedAtMs }: VaultSecretRow, nowMs: number): NewEvent {
  const days = Math.floor((nowMs - updatedAtMs) / MS_PER_DAY);
  return {
    type: 'vault.stale',
    severity: 'warning',
    subject: `secret:${scopeId}:${name}`,
    ...(scopeKind === 'workspace' && { workspaceId: scopeId }),
    title: `The secret "${name}" of the vault has had its value for ${days} days`,
    text: 'Make another value where it is taken, and store it under the same name: it counts with the next call.',
    facts: { name, scope: scopeId, days },
    link: `/ui/vault?scope=${scopeId}&peek=${name}`,
    mark: `vault.stale ${scopeKind} ${scopeId} ${name} ${updatedAtMs}`,
  };
}
