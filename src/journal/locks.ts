import { existsSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { randomText } from '../lib/ids.ts';

/** A lock that ends with its process. */
export interface JournalLock {
  release(): void;
}

/**
 * Takes the lock of a stream. `held`: its process lives. `unknown`: the file system has no locks, so it cannot be known.
 * @param path without the ending of the lock's file
 */
export type TakeLock = (path: string) => JournalLock | 'held' | 'unknown';

/** The ending of a lock's file. SQLite leaves a second one beside it when its process is killed. */
const LOCK_ENDING = '.lock';
const LOCK_FILE = /^(\d{15}-[A-Za-z0-9]{12})\.lock(-journal)?$/;
/** Names that are tried. More of them that are held show a file system whose locks do not work: some report each as held. */
const NAMES_MAX = 3;
/** Held by the process that applies what others have left, so that their locks are held by none but themselves. */
const ADOPTION = 'adoption';

/**
 * Takes the lock of a new stream.
 * @param makeName of the stream; called again where another process removes the lock's file as one that was left behind
 * @returns without a lock where the file system has none that work
 */
export function claimStream(
  folder: string,
  takeLock: TakeLock,
  makeName: () => string,
): { readonly stream: string; readonly lock: JournalLock | undefined } {
  for (let tries = 1; ; tries++) {
    const stream = makeName();
    const path = join(folder, stream);
    const lock = takeLock(path);
    if (typeof lock !== 'string') {
      if (existsSync(path + LOCK_ENDING)) return { stream, lock };
      lock.release();
    } else if (lock === 'unknown' || tries === NAMES_MAX) {
      removeLock(folder, stream);
      return { stream, lock: undefined };
    }
  }
}

/** Whether the locks of the folder's file system work. */
export function haveLocks(folder: string, takeLock: TakeLock): boolean {
  const { stream, lock } = claimStream(folder, takeLock, () => `${'0'.repeat(15)}-${randomText(12)}`);
  removeLock(folder, stream);
  lock?.release();
  return lock !== undefined;
}

/** Before it is released: another process might have it by then. */
export function removeLock(folder: string, stream: string): void {
  for (const ending of [LOCK_ENDING, `${LOCK_ENDING}-journal`]) rmSync(join(folder, stream + ending), { force: true });
}

/**
 * Takes the right to apply what processes that are gone have left in the folder. `held`: another process does that now, and
 * holds the locks of those streams meanwhile.
 */
export function takeAdoption(folder: string, takeLock: TakeLock): ReturnType<TakeLock> {
  return takeLock(join(folder, ADOPTION));
}

/** Removes the lock files of processes that are gone and have left no segment. Called by the one that holds the adoption. */
export async function removeStrayLocks(folder: string, takeLock: TakeLock, used: ReadonlySet<string>): Promise<void> {
  const names = await readdir(folder);
  const streams = new Set(names.flatMap((name) => LOCK_FILE.exec(name)?.[1] ?? []));
  for (const stream of streams.difference(used)) {
    const lock = takeLock(join(folder, stream));
    if (typeof lock === 'string') continue;
    removeLock(folder, stream);
    lock.release();
  }
}
