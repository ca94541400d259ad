import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { SEGMENT_BYTES } from '../../journal/segments.ts';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../engine/database.ts';
import { openJournalStore } from './checkpoints.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import {
  makeJournalFolder,
  openTestJournal,
  storedIds,
  writeAndVanish,
  type TestJournalOptions,
} from '../../../tests/support/store/journal.ts';

const ROWS = ['gen-1', 'gen-2'].map((id) => sampleGeneration({ id }));

/** A folder with what a killed process has left, and a way to open journals in it. */
async function prepare(t: TestContext) {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const folder = await makeJournalFolder(t);
  await writeAndVanish(t, database, folder, ROWS);
  const store = await openJournalStore(database);
  const open = (options: TestJournalOptions = {}) => openTestJournal(t, database, { folder, ...options });
  return { database, folder, store, open };
}

/** Another process, which applies what is left and does not come to the end of it. */
async function startAdopter({ open, store }: Awaited<ReturnType<typeof prepare>>) {
  const mayApply = Promise.withResolvers<void>();
  const adopter = await open({
    store: { ...store, apply: (batch) => mayApply.promise.then(() => store.apply(batch)) },
  });
  const adopted = adopter.start();
  return { adopter, adopted, mayApply };
}

// @spec operation-14
test('knows at its start that another process still applies what is left, and notices when it has', async (t) => {
  const prepared = await prepare(t);
  const { adopter, adopted, mayApply } = await startAdopter(prepared);
  const journal = await prepared.open();
  await journal.start();
  assert.equal(journal.status().hasOrphans, true);
  mayApply.resolve();
  await adopted;
  while (journal.status().hasOrphans) await wait(5);
  assert.deepEqual(await storedIds(prepared.database), ['gen-1', 'gen-2']);
  for (const each of [adopter, journal]) await each.close();
});

// @spec operation-14
test('goes on after ten seconds without a process that applies what is left and is stopped', async (t) => {
  const prepared = await prepare(t);
  const { adopter, adopted, mayApply } = await startAdopter(prepared);
  let passedMs = 0;
  const journal = await prepared.open({ clock: { ...clock, monotonicMs: () => clock.monotonicMs() + passedMs } });
  await journal.start();
  assert.equal(journal.status().hasOrphans, true);
  passedMs = 10_000;
  while (journal.status().hasOrphans) await wait(5);
  mayApply.resolve();
  await adopted;
  for (const each of [adopter, journal]) await each.close();
});

test('starts where what earlier versions have left cannot be stored yet, and stores it later', async (t) => {
  const { open } = await prepare(t);
  let isBusy = true;
  const journal = await open({
    applyEarlier: () => (isBusy ? Promise.reject(new Error('busy')) : Promise.resolve()),
  });
  await journal.start();
  assert.deepEqual([journal.status().hasOrphans, journal.reported], [true, ['store stuck']]);
  isBusy = false;
  await journal.start();
  assert.equal(journal.status().hasOrphans, false);
  await journal.close();
});

// @spec operation-14
test('applies nothing of others where no lock shows that they are gone, and reports that', async (t) => {
  const { open, database } = await prepare(t);
  let earlier = 0;
  const journal = await open({ takeLock: () => 'unknown', applyEarlier: async () => void earlier++ });
  await journal.start();
  const { hasLocks, hasOrphans } = journal.status();
  assert.deepEqual([hasLocks, hasOrphans, journal.reported, earlier], [false, false, ['no locks'], 1]);
  assert.deepEqual(await storedIds(database), []);
  await journal.close();
});

test('counts the segments of all processes on the folder', async (t) => {
  const { open, folder } = await prepare(t);
  const journals = [await open(), await open()];
  for (const journal of journals) await journal.start();
  // Each makes its next segment when it opens.
  while ((await readdir(folder)).filter((name) => name.endsWith('.segment')).length < 4) await wait(5);
  await journals[0]?.start();
  const { bytes, folderBytes } = journals[0]?.status() ?? {};
  assert.deepEqual([bytes, folderBytes], [2 * SEGMENT_BYTES, 4 * SEGMENT_BYTES]);
  for (const journal of journals) await journal.close();
});
