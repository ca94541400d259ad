import { withTimeout } from '../../lib/async/with-timeout.ts';
import type { NewEvent } from '../../notifications/raise.ts';
import type { WatchDeps } from './watch-health.ts';

const PING_MS_MAX = 1_000;
/** A database that was away for less needs no person. */
const AWAY_MS = 30_000;
const DISK_LOW = 0.1;
/** A disk must have so much room again before it is reported anew. */
const DISK_ROOM = 0.12;
const DISK_MARK = 'disk.low';
const DAY_MS = 86_400_000;

export interface MachineWatchDeps extends WatchDeps {
  readonly ping: () => Promise<void>;
  /** The free part of the disk that has the data, 0 to 1. */
  readonly freePart: () => Promise<number>;
  /** How many sums of the ledger do not agree. A long read. */
  readonly countDifferences: () => Promise<number>;
  /** Why containers that are configured stay off; `undefined`: they do not. */
  readonly containerProblem: string | undefined;
  readonly nowMs: () => number;
}

/** Reports a database that was away, a disk that fills up, books that do not agree, and containers that are not safe. */
export function createMachineWatch(deps: MachineWatchDeps): () => Promise<void> {
  const { raise, clear, nowMs } = deps;
  let awaySinceMs: number | undefined;
  let verifiedMs: number | undefined;
  return async () => {
    const atMs = nowMs();
    const answers = await withTimeout(deps.ping(), PING_MS_MAX).then(
      () => true,
      () => false,
    );
    // What is raised is stored in this database: it is reported once that answers again.
    if (!answers) {
      awaySinceMs ??= atMs;
      return;
    }
    if (awaySinceMs !== undefined && atMs - awaySinceMs >= AWAY_MS) await raise(away(awaySinceMs, atMs));
    awaySinceMs = undefined;
    const free = await deps.freePart();
    if (free < DISK_LOW) await raise(diskLow(free));
    else if (free >= DISK_ROOM) await clear([DISK_MARK]);
    if (deps.containerProblem !== undefined) await raise(unsafe(deps.containerProblem, atMs));
    if (verifiedMs !== undefined && atMs - verifiedMs < DAY_MS) return;
    verifiedMs = atMs;
    const differences = await deps.countDifferences();
    if (differences > 0) await raise(mismatch(differences, atMs));
  };
}

function away(sinceMs: number, nowMs: number): NewEvent {
  const seconds = Math.round((nowMs - sinceMs) / 1_000);
  return {
    type: 'database.away',
    severity: 'critical',
    subject: 'database',
    title: `The database did not answer for ${seconds} seconds`,
    text: 'It answers again. Records waited in the journal meanwhile; requests with limits may have been refused.',
    facts: { since: new Date(sinceMs).toISOString(), seconds },
    link: '/ui/health',
    mark: `database.away ${sinceMs}`,
  };
}

function diskLow(free: number): NewEvent {
  const percent = Math.floor(free * 100);
  return {
    type: 'disk.low',
    severity: 'critical',
    subject: 'disk',
    title: `${percent} % of the disk with the data are free`,
    text: 'A full disk stops requests. Make room, or shorten what is kept.',
    facts: { free_percent: percent },
    link: '/ui/health',
    mark: DISK_MARK,
  };
}

function unsafe(problem: string, nowMs: number): NewEvent {
  return {
    type: 'containers.unsafe',
    severity: 'critical',
    subject: 'containers',
    title: 'Containers stay off: nothing isolates commands here',
    text: problem,
    facts: { problem },
    link: '/ui/containers',
    mark: `containers.unsafe ${problem}`,
    markUntilMs: nowMs + DAY_MS,
  };
}

function mismatch(count: number, nowMs: number): NewEvent {
  return {
    type: 'ledger.mismatch',
    severity: 'critical',
    subject: 'ledger',
    title: `${count} ${count === 1 ? 'sum' : 'sums'} of the ledger do not agree`,
    text: 'Generations, entries, sums and balance differ. `model-gateway credits verify` lists how.',
    facts: { differences: count },
    link: '/ui/money',
    mark: 'ledger.mismatch',
    markUntilMs: nowMs + DAY_MS,
  };
}
