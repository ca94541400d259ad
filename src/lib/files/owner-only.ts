import { chmodSync, closeSync, openSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ONLY_OWNER = 0o600;
const OTHERS = 0o077;

/**
 * Makes a missing file, empty and readable for its owner alone. An existing file is not opened: closing it would release the
 * locks that this process has on it (fcntl(2), "Record locking").
 */
export function makeOwnerOnlyFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', ONLY_OWNER));
  } catch {
    // The file exists, or it cannot be made: the next attempt to open it reports why.
  }
}

/**
 * Removes the access of other users to a file, and to the files beside it whose names begin with its name. An older version
 * made them with the permissions of the umask.
 */
export function keepFromOthers(path: string): void {
  const [folder, name] = [dirname(path), basename(path)];
  for (const each of namesIn(folder)) if (each.startsWith(name)) closeToOthers(join(folder, each));
}

function closeToOthers(file: string): void {
  try {
    const { mode } = statSync(file);
    if ((mode & OTHERS) !== 0) chmodSync(file, mode & ~OTHERS & 0o777);
  } catch {
    // The file is gone, belongs to another user, or the disk has no modes: none of these keeps the gateway from working.
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
