import { constants } from 'node:fs';
import { chmod, open, type FileHandle } from 'node:fs/promises';

/** Not among the constants of Node: opens a folder whatever its rights are. The same number on x64 and arm64. */
const O_PATH = 0o10_000_000;
const { O_NOFOLLOW, O_DIRECTORY } = constants;
const OWNER_ALL = 0o700;

/**
 * Gives the owner of a folder its rights on it, which a command may have taken away. No link is followed at any part of the path
 * below the root: a command may exchange folders meanwhile.
 */
export async function openToOwner(root: string, ...below: readonly string[]): Promise<void> {
  let handle = await openPath(root);
  try {
    for (const part of below) {
      const next = await openPath(`/proc/self/fd/${handle.fd}/${part}`);
      await handle.close();
      handle = next;
    }
    await chmod(`/proc/self/fd/${handle.fd}`, OWNER_ALL);
  } finally {
    await handle.close();
  }
}

function openPath(path: string): Promise<FileHandle> {
  return open(path, O_PATH | O_NOFOLLOW | O_DIRECTORY);
}
