import { readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { frameBytesMax, writeFrame } from '../../journal/frames.ts';
import type { Database } from '../engine/database.ts';
import { encodeSettlement, GENERATION_COLUMNS } from './record.ts';
import { parseSettlements } from './settlement.ts';

const FILE_NAME = /^\d{15}-\d+-\w{12}\.json$/;

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
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (names === undefined) return;
  for (const name of names.filter((each) => FILE_NAME.test(each)).toSorted()) {
    const file = join(folder, name);
    const settlements = parseSettlements(await readFile(file, 'utf8'));
    if (settlements === undefined) {
      await rename(file, `${file}.unreadable`);
      onUnreadable(`${file}.unreadable`);
      continue;
    }
    const { records, refused } = await database.applyBatch({
      source: { frames: framesOf(settlements.map(encodeSettlement)) },
      columns: GENERATION_COLUMNS,
      lateBeforeMs: Infinity,
    });
    const ids = new Set(settlements.map(({ generation }) => generation.id));
    if (refused.length === 0 && records === ids.size) await rm(file);
    else {
      await rename(file, `${file}.unreadable`);
      onUnreadable(`${file}.unreadable`);
    }
  }
  // With files that were set aside it stays.
  await rmdir(folder).catch(() => undefined);
}

function framesOf(payloads: readonly string[]): Uint8Array {
  const bytes = Buffer.alloc(payloads.reduce((sum, payload) => sum + frameBytesMax(payload), 0));
  return bytes.subarray(
    0,
    payloads.reduce((offset, payload) => writeFrame(bytes, offset, payload), 0),
  );
}
