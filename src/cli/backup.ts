import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { journalFolderOf } from '../app/journal.ts';
import type { Config } from '../config/config.ts';
import { putJournalsAside } from '../journal/put-aside.ts';
import { makeFolder } from '../lib/files/make-folder.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { embeddedDatabaseOf } from '../app/embedded-database.ts';
import { filesDirectory } from '../app/file-area.ts';
import { backUp, restore, type BackupPlace } from '../store/engine/backup.ts';
import { waitForJournals } from './journals.ts';
import { openConfiguredDatabase } from './open-database.ts';
import { CommandError, UsageError } from './command.ts';
import type { Io } from './command.ts';
import { configArgs, loadCheckedConfig } from './load-config.ts';

interface Requested {
  readonly file: string;
  readonly place: BackupPlace;
  readonly config: Pick<Config, 'dataDir' | 'databaseUrl'>;
  readonly dataDir: string;
  /** Where stored files lie. */
  readonly files: string;
}

/** `model-gateway backup FILE`: also while a gateway runs. */
export async function runBackup(args: readonly string[], io: Io): Promise<number> {
  const { file, place, dataDir, files, config } = readArgs('backup', args, io);
  if (place.url === undefined && !existsSync(place.path))
    throw new CommandError(`There is no database in ${dataDir} to back up.`);
  await warnOfJournals(config, io);
  await backUp(place, file).catch(asCommandError);
  io.stdout.write(`Wrote ${file}.\n`);
  const secret = join(dataDir, 'secret');
  if (existsSync(secret))
    io.stderr.write(`Stored provider credentials can be read only with ${secret}: keep a copy of it apart.\n`);
  if (existsSync(files))
    io.stderr.write(`The contents of stored files are not in it: copy ${files} now that it is written.\n`);
  return 0;
}

/** What responses have ended with and the database lacks is not in the backup. */
async function warnOfJournals(config: Requested['config'], io: Io): Promise<void> {
  const database = await openConfiguredDatabase(config, { makes: false });
  try {
    for (const sentence of await waitForJournals(config, database))
      io.stderr.write(`${sentence} They are not in the backup: see \`model-gateway journal\`.\n`);
  } finally {
    await database.close();
  }
}

/** `model-gateway restore FILE`: while no gateway runs. */
export async function runRestore(args: readonly string[], io: Io): Promise<number> {
  const { file, place, dataDir } = readArgs('restore', args, io);
  if (place.url === undefined) await makeFolder(dataDir).catch(asCommandError);
  const kept = await restore(file, place).catch(asCommandError);
  io.stdout.write(`Restored ${file}.\n`);
  if (kept !== undefined) io.stdout.write(`What was there before is in ${kept}.\n`);
  const journals = await putJournalsAside(journalFolderOf({ dataDir }));
  if (journals !== undefined) io.stdout.write(`Records that were on their way to that database are in ${journals}.\n`);
  return 0;
}

function readArgs(command: string, args: readonly string[], io: Io): Requested {
  const { values, words } = parseFlags(args, CONFIG_FLAGS);
  const [file, surplus] = words;
  if (file === undefined) throw new UsageError(`${command}: name a file`);
  if (surplus !== undefined) throw new UsageError(`${command}: ${surplus}: unexpected argument`);
  const { config } = loadCheckedConfig(configArgs(values), io.env);
  const { dataDir, databaseUrl } = config;
  const files = filesDirectory(config);
  return { file, config, dataDir, files, place: { path: embeddedDatabaseOf(config), url: databaseUrl } };
}

function asCommandError(error: unknown): never {
  throw error instanceof Error ? new CommandError(error.message, { cause: error }) : error;
}
