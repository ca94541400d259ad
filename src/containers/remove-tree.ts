import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, opendir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { openToOwner } from './open-to-owner.ts';

/** Each takes a level of folders away, or more. */
const ROUNDS_MAX = 200_000;
const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY } = constants;

/** Removes a folder with all that commands have left in it, whatever the rights and the length of its paths. */
export async function removeTree(root: string): Promise<void> {
  try {
    await rm(root, { recursive: true, force: true });
  } catch {
    await flatten(root);
    await rmdir(root);
  }
}

/** Moves folders up to the root, so that no path is long, and empties them there. */
async function flatten(root: string): Promise<void> {
  const prefix = randomBytes(8).toString('hex');
  let moved = 0;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    await openToOwner(root);
    let isEmpty = true;
    for await (const entry of await opendir(root)) {
      isEmpty = false;
      const path = join(root, entry.name);
      if (entry.isDirectory()) await emptyInto(root, entry.name, () => join(root, `${prefix}-${moved++}`));
      else await unlink(path);
    }
    if (isEmpty) return;
  }
  throw new Error('The folder of a container cannot be removed: its files come back.');
}

async function emptyInto(root: string, name: string, nextPath: () => string): Promise<void> {
  await openToOwner(root, name);
  const folder = await open(join(root, name), O_RDONLY | O_NOFOLLOW | O_DIRECTORY);
  try {
    // The kernel's own name of the open folder: it stays that one, although a command may exchange it.
    const path = `/proc/self/fd/${folder.fd}`;
    for await (const entry of await opendir(path)) {
      const inner = join(path, entry.name);
      if (!entry.isDirectory()) {
        await unlink(inner);
        continue;
      }
      await openToOwner(root, name, entry.name);
      await rename(inner, nextPath());
    }
  } finally {
    await folder.close();
  }
  await rmdir(join(root, name));
}
