import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Of a home; one with more counts as too large. */
const ENTRIES_MAX = 100_000;
const BLOCK_BYTES = 512;

/** The space that a home takes on the disk. Links are not followed. */
export async function measureHome(home: string): Promise<number> {
  let bytes = 0;
  let entries = 0;
  const folders = [home];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for await (const entry of await opendir(folder)) {
        if (++entries > ENTRIES_MAX) return Infinity;
        const path = join(folder, entry.name);
        if (entry.isDirectory()) folders.push(path);
        // A file of holes takes no space.
        bytes += (await lstat(path)).blocks * BLOCK_BYTES;
      }
    } catch {
      // A command removes files while they are counted, or takes their rights away.
    }
  }
  return bytes;
}
