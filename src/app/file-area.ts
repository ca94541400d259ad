import { join } from 'node:path';
import { createFiles, type Files } from '../accounts/files.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import { createHousekeeping } from '../lib/async/housekeeping.ts';
import { createBlobStore } from '../store/accounts/blobs.ts';
import type { Database } from '../store/engine/database.ts';
import { createFileStore } from '../store/accounts/files.ts';
import type { Log } from '../telemetry/logs.ts';

/** Files that callers store, and what clears away after them. */
export interface FileArea {
  readonly files: Files;
  /** Clears away what the process before left behind, and from then on what is over. */
  start(): void;
  close(): Promise<void>;
}

const CLEAR_EVERY_MS = 600_000;
const CLEAR_PAUSE_MS = 1_000;

/** Where contents lie. */
export function filesDirectory({ dataDir, files }: Pick<Config, 'dataDir' | 'files'>): string {
  return files.directory ?? join(dataDir, 'files');
}

export function createFileArea(parts: {
  readonly config: Pick<Config, 'dataDir' | 'files'>;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}): FileArea {
  const { config, database, clock, log } = parts;
  const directory = filesDirectory(config);
  const files = createFiles({
    store: createFileStore({ database }),
    blobs: createBlobStore({ folder: directory }),
    clock,
    workspaceBytesMax: config.files.workspaceBytesMax,
    isAlone: database.engine === 'sqlite',
    onDiskFull: (error) => log.general.error({ err: error, directory }, 'the disk is full: a file was not stored'),
  });
  const onFailed = (error: unknown): void => log.general.error({ err: error }, 'files could not be cleared away');
  const housekeeping = createHousekeeping({
    work: () => files.clearAway(),
    everyMs: CLEAR_EVERY_MS,
    pauseMs: CLEAR_PAUSE_MS,
    onFailed,
  });
  let first: Promise<unknown> = Promise.resolve();
  return {
    files,
    start() {
      first = files.clearAway().catch(onFailed);
      housekeeping.start();
    },
    async close() {
      await first;
      await housekeeping.stop();
    },
  };
}
