import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { journalFolderOf } from '../app/journal.ts';
import type { Config } from '../config/config.ts';
import { applyCopies, copySegments } from '../journal/copies.ts';
import { putJournalsAside } from '../journal/put-aside.ts';
import { makeFolder } from '../lib/files/make-folder.ts';
import { CONFIG_FLAGS, parseFlags } from '../config/flags.ts';
import { embeddedDatabaseOf } from '../app/embedded-database.ts';
import { filesDirectory } from '../app/file-area.ts';
import { backUp, restore, type BackupPlace } from '../store/engine/backup.ts';
import { openJournalStore } from '../store/journal/checkpoints.ts';
import { reportTo, waitForJournals } from './journal/journals.ts';
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
  const journals = await copyJournals(file, config, io).catch(asCommandError);
  await backUp(place, file).catch(async (error: unknown) => {
    if (journals !== undefined) await rm(journals, { recursive: true });
    asCommandError(error);
  });
  io.stdout.write(`Wrote ${file}.\n`);
  const secret = join(dataDir, 'secret');
  if (existsSync(secret))
    io.stderr.write(`Stored provider credentials can be read only with ${secret}: keep a copy of it apart.\n`);
  if (existsSync(files))
    io.stderr.write(`The contents of stored files are not in it: copy ${files} now that it is written.\n`);
  return 0;
}

/**
 * Copies what responses have ended with and the database lacks. Before the backup is made: what the database gets meanwhile
 * is in one of both, or in both.
 * @returns the folder of the copies; `undefined`: the database lacks nothing
 */
async function copyJournals(file: string, config: Requested['config'], io: Io): Promise<string | undefined> {
  if (existsSync(file)) throw new CommandError(`There is a file ${file} already.`);
  const database = await openConfiguredDatabase(config, { makes: false });
  try {
    const { sentences, segments } = await waitForJournals(config, database);
    for (const sentence of sentences) io.stderr.write(`${sentence}\n`);
    if (segments.length === 0) return undefined;
    await copySegments(segments, journalsOf(file));
    io.stderr.write(`Records that are not in the database are in ${journalsOf(file)}: keep it beside the backup.\n`);
    return journalsOf(file);
  } finally {
    await database.close();
  }
}

/** Where the records are that the database lacked when it was backed up. */
function journalsOf(file: string): string {
  return `${file}.journal`;
}

/** Stores what the database lacked when it was backed up. */
async function applyCopiesOf(file: string, config: Requested['config'], io: Io): Promise<void> {
  if (!existsSync(journalsOf(file))) return;
  const database = await openConfiguredDatabase(config, { makes: false });
  let applied = 0;
  try {
    const reports = reportTo(io, journalsOf(file), (records) => (applied += records));
    await applyCopies(journalsOf(file), await openJournalStore(database), reports);
  } finally {
    await database.close();
  }
  io.stdout.write(`Stored ${applied} records from ${journalsOf(file)}.\n`);
}

/** `model-gateway restore FILE`: while no gateway runs. */
export async function runRestore(args: readonly string[], io: Io): Promise<number> {
  const { file, place, dataDir, config } = readArgs('restore', args, io);
  if (place.url === undefined) await makeFolder(dataDir).catch(asCommandError);
  const kept = await restore(file, place).catch(asCommandError);
  io.stdout.write(`Restored ${file}.\n`);
  if (kept !== undefined) io.stdout.write(`What was there before is in ${kept}.\n`);
  await applyCopiesOf(file, config, io);
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
