import { lstat, opendir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { openToOwner } from './open-to-owner.ts';

/** Of a home; one with more counts as too large. */
const ENTRIES_MAX = 100_000;
const BLOCK_BYTES = 512;

/**
 * The space that a home takes on the disk. Links are not followed. A folder that commands have closed is opened to its owner, so
 * that nothing in it is left out; what cannot be counted all the same is too large.
 */
export async function measureHome(home: string): Promise<number> {
  let bytes = 0;
  let entries = 0;
  const folders = [home];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const found = await measureOpened(home, folder, ENTRIES_MAX - entries);
    if (found === undefined) return Infinity;
    bytes += found.bytes;
    entries += found.entries;
    folders.push(...found.folders);
  }
  return bytes;
}

interface Measured {
  readonly bytes: number;
  readonly entries: number;
  readonly folders: readonly string[];
}

const NOTHING: Measured = { bytes: 0, entries: 0, folders: [] };

/** `undefined`: it cannot be counted, or has too many entries. */
async function measureOpened(home: string, folder: string, entriesMax: number): Promise<Measured | undefined> {
  try {
    return await measureFolder(folder, entriesMax);
  } catch (error) {
    if (codeOf(error) !== 'EACCES') return isUnreadable(error) ? undefined : NOTHING;
  }
  try {
    await openToOwner(home, ...relative(home, folder).split('/').filter(Boolean));
    return await measureFolder(folder, entriesMax);
  } catch (error) {
    return isUnreadable(error) ? undefined : NOTHING;
  }
}

/** Of other errors commands are no cause, or they have removed the folder meanwhile. */
function isUnreadable(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'ENAMETOOLONG'].includes(codeOf(error));
}

async function measureFolder(folder: string, entriesMax: number): Promise<Measured | undefined> {
  const folders: string[] = [];
  let bytes = 0;
  let entries = 0;
  for await (const entry of await opendir(folder)) {
    if (++entries > entriesMax) return undefined;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) folders.push(path);
    // A file of holes takes no space.
    bytes += (await blocksOf(path)) * BLOCK_BYTES;
  }
  return { bytes, entries, folders };
}

async function blocksOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).blocks;
  } catch (error) {
    // A command removes files while they are counted.
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
