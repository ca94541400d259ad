import { statfs } from 'node:fs/promises';
import { DEFAULT_ACCOUNT_ID } from '../../accounts/principal.ts';
import { createHousekeeping, type Housekeeping } from '../../lib/async/housekeeping.ts';
import { createUsedModels } from '../../store/notifications/used-models.ts';
import { createLedgerStore } from '../../store/usage/ledger.ts';
import type { Foundation } from '../foundation.ts';
import type { Parts } from '../parts.ts';
import { createHealthWatch } from './watch-health.ts';
import { createMachineWatch } from './watch-machine.ts';
import { createModelWatch } from './watch-models.ts';

const HEALTH_EVERY_MS = 30_000;
const MACHINE_EVERY_MS = 60_000;
const MODELS_EVERY_MS = 600_000;
const PAUSE_MS = 100;

/**
 * Looks now and then at what no request reports. Without a channel it looks at nothing.
 * @param everyMs of all of them, for tests
 */
export function openWatches(
  { shared, storage }: Pick<Foundation, 'shared' | 'storage'>,
  { notifications, generateDeps, live }: Pick<Parts, 'notifications' | 'generateDeps' | 'live'>,
  { keepsStore, everyMs }: { readonly keepsStore: boolean; readonly everyMs?: number | undefined },
): Housekeeping {
  const { config, clock, log } = shared;
  const { database } = storage;
  const nowMs = (): number => clock.nowMs();
  const deps = {
    raise: (event: Parameters<typeof notifications.raise>[0]) => notifications.raise(event),
    clear: (marks: readonly string[]) => notifications.clear(marks),
  };
  const onFailed = (error: unknown): void =>
    log.general.warn({ err: error }, 'what operators are notified of could not be looked at: tried again later');
  const watch = (look: () => Promise<void>, usualMs: number): Housekeeping =>
    createHousekeeping({
      async work() {
        if (notifications.isOn) await look();
        return false;
      },
      everyMs: everyMs ?? usualMs,
      pauseMs: PAUSE_MS,
      onFailed,
    });
  const rounds = [watch(createHealthWatch(generateDeps.health, deps, nowMs), HEALTH_EVERY_MS)];
  if (keepsStore) {
    const ledger = createLedgerStore({ database });
    const machine = createMachineWatch({
      ...deps,
      nowMs,
      ping: () => database.ping(),
      async freePart() {
        const { bavail, blocks } = await statfs(config.dataDir);
        return blocks === 0 ? 1 : bavail / blocks;
      },
      countDifferences: async () => (await ledger.verify(DEFAULT_ACCOUNT_ID)).differences.length,
      containerProblem: shared.containerProblem,
    });
    const models = createModelWatch(live.catalog, createUsedModels(database), deps, nowMs);
    rounds.push(watch(machine, MACHINE_EVERY_MS), watch(models, MODELS_EVERY_MS));
  }
  return {
    start() {
      for (const round of rounds) round.start();
    },
    async stop() {
      await Promise.all(rounds.map((round) => round.stop()));
    },
  };
}
