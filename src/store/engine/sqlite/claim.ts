import { DatabaseSync } from 'node:sqlite';
import { makeOwnerOnlyFile } from '../../../lib/files/owner-only.ts';
import { isBusy } from './fault.ts';

/** A sign that a gateway works on an embedded database. The system takes it down with the process, however that ends. */
export interface Claim {
  /** Nobody else is known to have put up theirs. */
  readonly isAlone: boolean;
  /** Once more changes nothing. */
  release(): void;
}

/** @param path of the database; the sign is an empty file beside it, with a lock */
export function claimSqlite(path: string): Claim {
  let sign: DatabaseSync | undefined;
  makeOwnerOnlyFile(`${path}.lock`);
  try {
    sign = new DatabaseSync(`${path}.lock`, { timeout: 0 });
    sign.exec('begin exclusive');
  } catch (error) {
    sign?.close();
    // A place without locks says nothing of others, and is no reason not to serve: the database itself can be used.
    return { isAlone: !isBusy(error), release: () => undefined };
  }
  return {
    isAlone: true,
    release() {
      if (sign.isOpen) sign.close();
    },
  };
}
