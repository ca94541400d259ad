import { join } from 'node:path';
import { GatewayError } from '../canonical/gateway-error.ts';
import { longestRequestMs, type Config } from '../config/config.ts';
import { JournalBehindError } from '../journal/apply-loop.ts';
import { passingFileSystemOf, type Durability } from '../journal/durability.ts';
import { openJournal, type Journal } from '../journal/journal.ts';
import type { JournalStore } from '../journal/store.ts';
import type { JournalReports } from '../journal/reports.ts';
import type { Clock } from '../lib/clock.ts';
import { makeFolder } from '../lib/files/make-folder.ts';
import type { Database } from '../store/engine/database.ts';
import { takeLock } from '../store/engine/sqlite/claim.ts';
import { openJournalStore } from '../store/journal/checkpoints.ts';
import { applyUnstoredFiles } from '../store/journal/unstored-files.ts';
import type { AppliedRecords } from './applied-records.ts';
import type { Log } from '../telemetry/logs.ts';
import type { Metrics } from '../telemetry/metrics.ts';

export interface JournalDeps {
  readonly config: Pick<Config, 'dataDir' | 'databaseUrl' | 'journal' | 'timeouts' | 'responses'>;
  readonly database: Database;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Where journals lie, for the gateway and for every command that looks at them. */
export function journalFolderOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'journal');
}

/** In which versions before the journal kept records while the database was away. */
export function unstoredFolderOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'unstored');
}

/** Half of the time after which an hour is summed up: what comes later may be missing in its sums. */
const LATE_MS = 300_000;

export interface OpenedJournal {
  readonly journal: Journal;
  readonly store: JournalStore;
}

/** @throws Error in one sentence, with the path, where the folder cannot be written */
export async function openGatewayJournal(deps: JournalDeps): Promise<OpenedJournal> {
  const { config, database, clock, metrics, log } = deps;
  const folder = journalFolderOf(config);
  await makeFolder(folder).catch(cannotWrite(folder));
  const store = await openJournalStore(database);
  const journal = await openJournal({
    folder,
    store,
    durability: await chooseDurability(config, folder, log),
    bytesMax: config.journal.bytesMax,
    lagMs: longestRequestMs(config) + LATE_MS,
    takeLock,
    applyEarlier: () =>
      applyUnstoredFiles(database, unstoredFolderOf(config), (file) =>
        log.general.error({ file }, 'a file of records that wait cannot be read: it is set aside'),
      ),
    reports: reportTo(log, metrics),
    clock,
  }).catch(cannotWrite(folder));
  metrics.watchJournal(() => journal.status());
  return { journal, store };
}

/** Settles when a read sees all that was written before. @throws GatewayError 503 when that takes too long */
export async function waitForRecords(records: Pick<AppliedRecords, 'wait'>): Promise<void> {
  try {
    await records.wait();
  } catch (cause) {
    if (!(cause instanceof JournalBehindError)) throw cause;
    throw new GatewayError('provider_overloaded', 'Records of the last requests are still being stored. Try again.', {
      retryAfterMs: 1_000,
      cause,
    });
  }
}

async function chooseDurability(
  { journal, databaseUrl }: Pick<Config, 'journal' | 'databaseUrl'>,
  folder: string,
  log: Log,
): Promise<Durability> {
  if (journal.durability !== undefined) return journal.durability;
  if (databaseUrl === undefined) return 'process';
  const fileSystem = await passingFileSystemOf(folder);
  if (fileSystem === undefined) return 'process';
  log.general.info(
    { folder, fileSystem },
    'the folder of the journal may vanish with this machine: responses wait for the database (journal.durability)',
  );
  return 'database';
}

function cannotWrite(folder: string): (error: unknown) => never {
  return (error) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot write the journal in ${folder}: ${reason}`, { cause: error });
  };
}

function reportTo({ general }: Log, metrics: Metrics): JournalReports {
  const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
  return {
    onDiskStuck(isStuck, error) {
      if (isStuck) general.error({ error: reasonOf(error) }, 'the journal cannot be written; records wait in memory');
      else general.info('the journal is written again');
    },
    onStoreStuck(isStuck, error) {
      if (isStuck) general.error({ error: reasonOf(error) }, 'the database takes no records; they wait in the journal');
      else general.info('the database takes records again');
    },
    onApplied: (records) => metrics.recordsApplied(records),
    onLost(payload, reason) {
      metrics.recordLost();
      // The last place where the record can be kept.
      general.error({ record: payload, error: reason }, 'record lost');
    },
    onDamaged({ path }, { offset, length }) {
      metrics.journalDamaged();
      general.error({ path, offset, length }, 'a damaged part of the journal was set aside');
    },
    onUnusable: ({ path }, problem) => general.error({ path, problem }, 'a segment of the journal cannot be applied'),
    onLate: () => metrics.recordLate(),
    onNoLocks: () =>
      general.warn(
        'the file system of the journal has no locks that work: what a killed process leaves is stored by `model-gateway journal apply` alone',
      ),
  };
}
