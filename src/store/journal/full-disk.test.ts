import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { SEGMENT_BYTES } from '../../journal/segments.ts';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../engine/database.ts';
import { openJournalStore } from './checkpoints.ts';
import { sampleGeneration } from '../../../tests/support/store/generations.ts';
import { mustAgree, openTestJournal, storedIds } from '../../../tests/support/store/journal.ts';

/** Room for two segments, not for three. */
const DISK_BYTES = 2.5 * SEGMENT_BYTES;

/** A folder with a file system of its own. `undefined`: this process may not mount one. */
async function makeSmallDisk(t: TestContext): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'journal-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder]);
  t.after(async () => {
    if (status === 0) spawnSync('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true, force: true });
  });
  return status === 0 ? folder : undefined;
}

// @spec money-26
test('has no room on a full file system while the database is away, loses nothing, and goes on once that is back', async (t) => {
  const folder = await makeSmallDisk(t);
  if (folder === undefined) return t.skip('THIS PROCESS MAY NOT MOUNT A FILE SYSTEM: a full one is not tested');
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const opened = await openJournalStore(database);
  let isAway = true;
  const journal = await openTestJournal(t, database, {
    folder,
    store: { ...opened, apply: (batch) => (isAway ? Promise.reject(new Error('away')) : opened.apply(batch)) },
  });
  const errorMessage = 'x'.repeat(2_000);
  const ids: string[] = [];
  while (journal.takeRoom()) {
    const id = `gen-${String(ids.length).padStart(4, '0')}`;
    await journal.record(sampleGeneration({ id, errorMessage }));
    ids.push(id);
    journal.returnRoom();
  }
  assert.ok(ids.length > SEGMENT_BYTES / errorMessage.length, `${ids.length} records had room`);
  assert.ok(journal.reported.includes('disk stuck'));
  assert.equal(journal.status().isFull, true);
  // A fast machine fills the disk before the first batch goes to the database.
  while (!journal.reported.includes('store stuck')) await wait(5);
  isAway = false;
  while (!journal.takeRoom()) await wait(5);
  const last = sampleGeneration({ id: 'gen-last' });
  await journal.record(last);
  await journal.close();
  assert.deepEqual(await storedIds(database), [...ids, last.id]);
  await mustAgree(database);
  assert.deepEqual(new Set(journal.reported), new Set(['disk stuck', 'disk free', 'store stuck', 'store free']));
});
