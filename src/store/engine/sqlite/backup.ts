import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, rename, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { refuseNewer } from '../migrate.ts';
import { makeFile } from '../new-file.ts';
import { claimSqlite } from './claim.ts';
import { isBusy } from './fault.ts';

/**
 * Writes everything that was committed at one moment to a new file, also while a gateway uses the database.
 * @throws Error in one sentence
 */
export async function backUpSqlite(path: string, file: string): Promise<void> {
  await makeFile(file, async (partial) => {
    copyInto(path, partial);
    check(partial, file);
  });
}

/**
 * Puts a backup in the place of the database, and keeps the old database beside it.
 * @returns where the old database is now; `undefined` where there was none
 * @throws Error in one sentence; then nothing has changed
 */
export async function restoreSqlite(file: string, path: string): Promise<string | undefined> {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  check(file, file);
  const arrived = `${path}.restored`;
  await rm(arrived, { force: true });
  try {
    await makeFile(arrived, (partial) => copyFile(file, partial));
    check(arrived, file);
    renewIdentity(arrived);
    const kept = existsSync(path) ? await putAside(path) : undefined;
    await rename(arrived, path);
    return kept;
  } finally {
    await rm(arrived, { force: true });
  }
}

/**
 * Copies the database as of one moment: a reader of the write-ahead log delays no writer. The target may exist when it
 * is empty.
 */
function copyInto(path: string, target: string): void {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.prepare('vacuum into ?').run(target);
  } finally {
    database.close();
  }
}

/** @throws Error when the file cannot be read, is damaged, or is no gateway database that this version can upgrade */
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

/** Journals of the database that the backup was made of must not be applied to what it was restored to. */
function renewIdentity(path: string): void {
  const database = new DatabaseSync(path);
  try {
    const tables = database.prepare("select name from sqlite_master where name = 'database_identity'").all();
    if (tables.length > 0) database.prepare('update database_identity set id = ?').run(randomUUID());
  } finally {
    database.close();
  }
}

/** @throws Error while a gateway or another process has the file open */
async function putAside(path: string): Promise<string> {
  const claim = claimSqlite(path);
  try {
    if (!claim.isAlone || !foldLog(path)) throw new Error('A gateway works on this database: stop it first.');
    const kept = `${path}.before-restore-${new Date().toISOString().replaceAll(':', '-')}`;
    // A damaged database may still have its log beside it, which the next database must not inherit.
    for (const end of ['', '-wal', '-shm']) if (existsSync(path + end)) await rename(path + end, kept + end);
    return kept;
  } finally {
    claim.release();
  }
}

/**
 * Folds the write-ahead log into the file. `false`: another process has the file open. A damaged file stays as it is.
 */
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
