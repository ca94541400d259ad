import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder } from '../lib/files/make-folder.ts';
import { listSegments } from './segments.ts';

/**
 * Moves the segments of a folder to one of its own, since their database was replaced.
 * @returns that folder; `undefined`: there were none
 */
export async function putJournalsAside(folder: string): Promise<string | undefined> {
  const segments = await listSegments(folder);
  if (segments.length === 0) return undefined;
  const aside = join(folder, `before-restore-${new Date().toISOString().replaceAll(':', '-')}`);
  await makeFolder(aside);
  for (const { path } of segments) await rename(path, join(aside, basename(path)));
  return aside;
}
