import { setTimeout as sleep } from 'node:timers/promises';
import { dirname } from 'node:path';
import { journalFolderOf, unstoredFolderOf } from '../app/journal.ts';
import type { Config } from '../config/config.ts';
import { listDamaged } from '../journal/batch.ts';
import { inspectJournals } from '../journal/inspect.ts';
import type { Database } from '../store/engine/database.ts';
import { takeLock } from '../store/engine/sqlite/claim.ts';
import { openJournalStore } from '../store/journal/checkpoints.ts';
import { listUnstoredFiles } from '../store/journal/unstored-files.ts';

/** What was set aside because it could not be read, a sentence each, until the operator removes it. */
export async function nameDamaged(config: Pick<Config, 'dataDir'>): Promise<readonly string[]> {
  const damaged = await listDamaged(journalFolderOf(config));
  return damaged.map((path) => `A part of a journal was damaged, and set aside: ${path}`);
}

const WAIT_MS_MAX = 30_000;
const LOOK_EVERY_MS = 50;

/**
 * Waits until the database has what the journals of the data directory hold now. What a process that is gone has left is not
 * waited for: a gateway applies it.
 * @returns what is not stored, a sentence each
 */
export async function waitForJournals(config: Pick<Config, 'dataDir'>, database: Database): Promise<readonly string[]> {
  const folder = journalFolderOf(config);
  const store = await openJournalStore(database);
  const journals = await inspectJournals({ folder, store, takeLock });
  const running = new Map(
    journals.flatMap(({ stream, owner, position, recordsLeft }) =>
      owner === 'running' && recordsLeft > 0 ? [[stream, position] as const] : [],
    ),
  );
  for (const untilMs = performance.now() + WAIT_MS_MAX; running.size > 0 && performance.now() < untilMs;) {
    const stored = await store.readCheckpoints([...running.keys()]);
    for (const [stream, position] of running) if ((stored.get(stream) ?? 0) >= position) running.delete(stream);
    if (running.size > 0) await sleep(LOOK_EVERY_MS);
  }
  const left = await listUnstoredFiles(unstoredFolderOf(config));
  const ofBefore =
    left.length === 0
      ? []
      : [
          `An earlier version left records in ${dirname(left[0] ?? '')} that are not in the database (files: ${left.length}). The gateway stores them at its start.`,
        ];
  const ofJournals = journals.flatMap(({ stream, owner, problem, recordsLeft }) => {
    if (problem !== undefined) return [`The journal ${stream} cannot be applied (${problem}).`];
    if (owner === 'running' ? !running.has(stream) : recordsLeft === 0) return [];
    return [`The journal ${stream} has ${recordsLeft} records that are not in the database.`];
  });
  return [...ofBefore, ...ofJournals];
}
