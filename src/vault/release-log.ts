import type { Clock } from '../lib/clock.ts';
import type { ReleaseVerdict, VaultReleaseRow } from '../store/vault/columns.ts';
import type { VaultReleaseStore } from '../store/vault/vault-releases.ts';
import type { VaultScope } from '../canonical/vault-reference.ts';

/** Different releases that wait for the database. */
const PENDING_MAX = 10_000;
const FLUSH_MS = 60_000;
/** SQLite takes 32,766 values in a statement. */
const ROWS_AT_ONCE = 1_000;
/** @spec vault-14 */
const RETENTION_MS = 90 * 86_400_000;

export interface Release {
  readonly scope: VaultScope;
  readonly name: string;
  readonly host: string;
  readonly caller: string;
  readonly keyHash: string | undefined;
  readonly verdict: ReleaseVerdict;
}

/** The record of secrets that were released: counted in memory, stored each minute. */
export interface ReleaseLog {
  add(release: Release): void;
  /** Stores what was counted. Never rejects. */
  flush(): Promise<void>;
  start(): void;
  close(): Promise<void>;
}

export function createReleaseLog({
  store,
  clock,
  onLost,
}: {
  readonly store: Pick<VaultReleaseStore, 'add' | 'removeBefore'>;
  readonly clock: Clock;
  /** Runs with the number of releases that could not be stored. */
  readonly onLost: (count: number, error: unknown) => void;
}): ReleaseLog {
  let pending = new Map<string, VaultReleaseRow>();
  let timer: NodeJS.Timeout | undefined;
  let clearedHourMs = 0;
  let writing: Promise<void> = Promise.resolve();

  async function write(rows: readonly VaultReleaseRow[]): Promise<void> {
    try {
      for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) await store.add(rows.slice(at, at + ROWS_AT_ONCE));
      const hourMs = hourOf(clock.nowMs());
      if (hourMs === clearedHourMs) return;
      clearedHourMs = hourMs;
      await store.removeBefore(hourMs - RETENTION_MS);
    } catch (error) {
      onLost(
        rows.reduce((sum, { count }) => sum + count, 0),
        error,
      );
    }
  }

  function flush(): Promise<void> {
    const rows = [...pending.values()];
    pending = new Map();
    if (rows.length > 0) writing = writing.then(() => write(rows));
    return writing;
  }

  return {
    add({ scope, name, host, caller, keyHash = '', verdict }) {
      const nowMs = clock.nowMs();
      const key = [hourOf(nowMs), scope.kind, scope.id, name, host, caller, keyHash, verdict].join('\n');
      const before = pending.get(key);
      const count = (before?.count ?? 0) + 1;
      if (before === undefined && pending.size >= PENDING_MAX) void flush();
      const hourMs = hourOf(nowMs);
      pending.set(key, {
        hourMs,
        scopeKind: scope.kind,
        scopeId: scope.id,
        name,
        host,
        caller,
        keyHash,
        verdict,
        count,
        lastAtMs: nowMs,
      });
    },
    flush,
    start() {
      timer ??= setInterval(() => void flush(), FLUSH_MS).unref();
    },
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

function hourOf(atMs: number): number {
  return atMs - (atMs % 3_600_000);
}
