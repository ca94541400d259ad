import { readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../engine/database.ts';
import { encodeSettlement, framesOf, GENERATION_COLUMNS } from './record.ts';
import { parseSettlements } from './settlement.ts';

const FILE_NAME = /^\d{15}-\d+-\w{12}\.json$/;

/** What versions before the journal left in their folder, in order; none where there is no such folder. */
export async function listUnstoredFiles(folder: string): Promise<readonly string[]> {
  const names = await ifThere(readdir(folder));
  return (names ?? [])
    .filter((name) => FILE_NAME.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

/** @returns `undefined` for what is not there, or no more: another gateway on the same folder was faster */
async function ifThere<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  return reading.catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/**
 * Stores what versions before the journal kept in files while the database was away, and removes the files. The ids of the
 * records make that harmless where it happens twice.
 * @param onUnreadable called when a file was set aside under another name
 * @throws Error when the database takes nothing, or the folder cannot be read: the files stay
 */
export async function applyUnstoredFiles(
  database: Pick<Database, 'applyBatch'>,
  folder: string,
  onUnreadable: (file: string) => void,
): Promise<void> {
  for (const file of await listUnstoredFiles(folder)) {
    const text = await ifThere(readFile(file, 'utf8'));
    if (text === undefined) continue;
    const settlements = parseSettlements(text);
    if (settlements === undefined) {
      await ifThere(rename(file, `${file}.unreadable`));
      onUnreadable(`${file}.unreadable`);
      continue;
    }
    const { records, refused } = await database.applyBatch({
      source: { frames: framesOf(settlements.map(encodeSettlement)) },
      columns: GENERATION_COLUMNS,
      lateBeforeMs: Infinity,
    });
    const ids = new Set(settlements.map(({ generation }) => generation.id));
    if (refused.length === 0 && records === ids.size) await rm(file, { force: true });
    else {
      await ifThere(rename(file, `${file}.unreadable`));
      onUnreadable(`${file}.unreadable`);
    }
  }
  // With files that were set aside it stays.
  await rmdir(folder).catch(() => undefined);
}
