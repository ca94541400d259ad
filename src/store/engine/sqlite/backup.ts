import { existsSync } from 'node:fs';
import { copyFile, rename, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { refuseNewer } from '../migrate.ts';
import { makeFile } from '../new-file.ts';
import { claimSqlite } from './claim.ts';
import { isBusy } from './fault.ts';

/**
 * Writes everything that was committed at one moment to a new file, also while a gateway works on the database.
 * @throws Error in one sentence
 */
export async function backUpSqlite(path: string, file: string): Promise<void> {
  await makeFile(file, async (partial) => {
    copyInto(path, partial);
    check(partial, file);
  });
}

/**
 * Puts a backup in the place of the database. What was there is kept beside it.
 * @returns where what was there is now; `undefined` where there was nothing
 * @throws Error in one sentence, and then nothing has changed
 */
export async function restoreSqlite(file: string, path: string): Promise<string | undefined> {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  check(file, file);
  const arrived = `${path}.restored`;
  await rm(arrived, { force: true });
  try {
    await makeFile(arrived, (partial) => copyFile(file, partial));
    check(arrived, file);
    const kept = existsSync(path) ? await putAside(path) : undefined;
    await rename(arrived, path);
    return kept;
  } finally {
    await rm(arrived, { force: true });
  }
}

/** A reader of the write-ahead log sees one moment and holds no writer up. The target may exist when it is empty. */
function copyInto(path: string, target: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.prepare('vacuum into ?').run(target);
  } finally {
    database.close();
  }
}

/** @throws Error when it cannot be read, is damaged, or no database of a gateway that this version can follow */
function check(file: string, name: string): void {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const [first] = database.prepare('pragma integrity_check(1)').all();
    if (first?.['integrity_check'] !== 'ok')
      throw new Error(`${name} is damaged: ${String(first?.['integrity_check'])}`);
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
    if (!tables.some((table) => table['name'] === 'schema_migrations'))
      throw new Error(`${name} is no database of a gateway.`);
    const applied = database.prepare('select name from schema_migrations order by name').all();
    refuseNewer(applied.map((migration) => ({ name: String(migration['name']) })));
  } finally {
    database.close();
  }
}

/** @throws Error while a gateway works on it, or anybody else has it open */
async function putAside(path: string): Promise<string> {
  const claim = claimSqlite(path);
  try {
    if (!claim.isAlone || !foldLog(path)) throw new Error('A gateway works on this database: stop it first.');
    const kept = `${path}.before-restore-${new Date().toISOString().replaceAll(':', '-')}`;
    // A damaged database may have its log beside it still, which must not be taken for that of the next one.
    for (const end of ['', '-wal', '-shm']) if (existsSync(path + end)) await rename(path + end, kept + end);
    return kept;
  } finally {
    claim.release();
  }
}

/** Folds the log of what was written into the file. `false`: somebody has it open. A damaged one stays as it is. */
function foldLog(path: string): boolean {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('pragma journal_mode = delete');
    return true;
  } catch (error) {
    return !isBusy(error);
  } finally {
    database.close();
  }
}
