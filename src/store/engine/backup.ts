/** Where the tables are, as `openDatabase` takes it. */
export interface BackupPlace {
  readonly path: string;
  readonly url?: string | undefined;
}

/** Writes everything to a new file. @throws Error in one sentence */
export async function backUp({ path, url }: BackupPlace, file: string): Promise<void> {
  if (url === undefined) return (await import('./sqlite/backup.ts')).backUpSqlite(path, file);
  return (await import('./postgres/backup.ts')).backUpPostgres(url, file);
}

/**
 * Reads what `backUp` wrote, into the same kind of database.
 * @returns where the database that it replaces is now
 * @throws Error in one sentence; then nothing has changed
 */
export async function restore(file: string, { path, url }: BackupPlace): Promise<string | undefined> {
  if (url === undefined) return (await import('./sqlite/backup.ts')).restoreSqlite(file, path);
  await (await import('./postgres/backup.ts')).restorePostgres(file, url);
  return undefined;
}
