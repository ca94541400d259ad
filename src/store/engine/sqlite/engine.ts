import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Kysely } from 'kysely';
import { assert } from '../../../lib/assert.ts';
import { makeFolder } from '../../../lib/files/make-folder.ts';
import { keepFromOthers, makeOwnerOnlyFile } from '../../../lib/files/owner-only.ts';
import { DatabaseGoneError } from '../database-error.ts';
import type { Engine, RunAlone } from '../engine.ts';
import type { Tables } from '../../tables.ts';
import { createSqliteDialect } from './driver.ts';
import { createLazyThread } from './lazy-thread.ts';
import { startSqliteThread } from './thread.ts';

/** How long a migration may delay everything else. */
const PATIENT_MS_MAX = 600_000;

/** @throws Error when the file cannot be opened */
export async function openSqlite(path: string): Promise<Engine> {
  // The folder holds key hashes and credentials: no other user of the machine may read them.
  if (path !== ':memory:') {
    await makeFolder(dirname(path));
    // The log and the index beside the file get its mode.
    makeOwnerOnlyFile(path);
    keepFromOthers(path);
  }
  const thread = await startSqliteThread(path);
  const opened = path === ':memory:' ? undefined : await numberOfFile(path);
  const kysely = new Kysely<Tables>({ dialect: createSqliteDialect(thread) });
  // An in-memory database is visible to its own thread alone. A file allows readers beside the writer.
  const reader = path === ':memory:' ? thread : createLazyThread(() => startSqliteThread(path));
  const patient = new Kysely<Tables>({ dialect: createSqliteDialect(thread, { transactionMsMax: PATIENT_MS_MAX }) });
  return {
    name: 'sqlite',
    kysely,
    reports: new Kysely<Tables>({ dialect: createSqliteDialect(reader) }),
    background: new Kysely<Tables>({ dialect: createSqliteDialect(thread, { isBackground: true }) }),
    runAlone: runAloneIn(kysely),
    withPatience: (task) => task({ kysely: patient, runAlone: runAloneIn(patient) }),
    async applyBatch(batch) {
      const { applied } = await thread.run({ kind: 'apply', batch });
      assert(applied !== undefined, 'the thread applies what it is given');
      return applied;
    },
    async ping() {
      // SQLite keeps writing to a file whose name was removed, and those writes are lost.
      if (opened !== undefined && (await numberOfFile(path)) !== opened) throw new DatabaseGoneError();
      await thread.run({ kind: 'read', sql: 'select 1', values: [] });
    },
    async close() {
      await reader.close();
      await thread.close();
    },
  };
}

/** A number that stays the same as long as it is the same file; `undefined`: there is none. */
async function numberOfFile(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ ino }) => ino,
    () => undefined,
  );
}

/** Every transaction runs alone: it begins as a writer, and the file has one writer at a time. */
function runAloneIn(kysely: Kysely<Tables>): RunAlone {
  return (_name, task) => kysely.transaction().execute(task);
}
