import { DatabaseSync } from 'node:sqlite';
import { makeOwnerOnlyFile } from '../../../lib/files/owner-only.ts';
import { isBusy } from './fault.ts';

/**
 * A sign that a gateway uses an embedded database. The system removes it with the process, however the process ends.
 */
export interface Claim {
  /** No other process is known to hold a claim. */
  readonly isAlone: boolean;
  /** Releases the claim; a second call changes nothing. */
  release(): void;
}

/** A lock that ends with its process. */
export interface FileLock {
  release(): void;
}

/**
 * Locks `PATH.lock`. `held`: another process has the lock. `unknown`: the file system has no locks, or the file cannot be
 * made.
 */
export function takeLock(path: string): FileLock | 'held' | 'unknown' {
  makeOwnerOnlyFile(`${path}.lock`);
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(`${path}.lock`, { timeout: 0 });
    file.exec('begin exclusive');
    const opened = file;
    return { release: () => void (opened.isOpen && opened.close()) };
  } catch (error) {
    file?.close();
    return isBusy(error) ? 'held' : 'unknown';
  }
}

/** @param path the database; the sign is an empty file beside it, with a lock */
export function claimSqlite(path: string): Claim {
  const lock = takeLock(path);
  // A file system without locks shows no other process. That is no reason to refuse: the database itself is usable.
  if (typeof lock === 'string') return { isAlone: lock !== 'held', release: () => undefined };
  return { isAlone: true, release: () => lock.release() };
}
