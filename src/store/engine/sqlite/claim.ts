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

/** @param path the database; the sign is an empty file beside it, with a lock */
export function claimSqlite(path: string): Claim {
  let sign: DatabaseSync | undefined;
  makeOwnerOnlyFile(`${path}.lock`);
  try {
    sign = new DatabaseSync(`${path}.lock`, { timeout: 0 });
    sign.exec('begin exclusive');
  } catch (error) {
    sign?.close();
    // A file system without locks shows no other process. That is no reason to refuse: the database itself is usable.
    return { isAlone: !isBusy(error), release: () => undefined };
  }
  return {
    isAlone: true,
    release() {
      if (sign.isOpen) sign.close();
    },
  };
}
