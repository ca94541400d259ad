import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { systemClock as clock } from '../lib/clock.ts';
import type { ApplyBatch } from '../journal/batch.ts';
import { createMemoryPositions } from '../state/memory/journal-positions.ts';
import { openDatabase } from '../store/engine/database.ts';
import { openJournalStore } from '../store/journal/checkpoints.ts';
import { createAppliedRecords } from './applied-records.ts';
import { sampleGeneration } from '../../tests/support/store/generations.ts';
import { openTestJournal, storedIds } from '../../tests/support/store/journal.ts';

/** Two processes with one database and one shared state. The first one's records are stored when `open` is called. */
async function openTwo(t: TestContext) {
  const database = await openDatabase({ path: ':memory:', clock });
  t.after(() => database.close());
  const store = await openJournalStore(database);
  let nowMs = 0;
  const positions = createMemoryPositions({ clock: { monotonicMs: () => nowMs } });
  const opened = Promise.withResolvers<void>();
  const late: ApplyBatch = async (batch) => {
    await opened.promise;
    return store.apply(batch);
  };
  const open = async (apply: ApplyBatch) => {
    const journal = await openTestJournal(t, database, { store: { ...store, apply } });
    await journal.start();
    return { journal, records: createAppliedRecords({ journal, store, state: { positions }, clock }) };
  };
  const [first, second] = [await open(late), await open(store.apply)];
  return { database, first, second, open: () => opened.resolve(), passMs: (ms: number) => (nowMs += ms) };
}

test('waits for what another process has written and not stored yet', async (t) => {
  const { database, first, second, open } = await openTwo(t);
  await first.journal.record(sampleGeneration({ id: 'gen-first' }));
  let isOver = false;
  const waiting = second.records.wait().then(() => (isOver = true));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(isOver, false);
  open();
  await waiting;
  assert.deepEqual(await storedIds(database), ['gen-first']);
  await first.journal.close();
  await second.journal.close();
});

test('refuses rather than reads without it', async (t) => {
  const { first, second, open } = await openTwo(t);
  await first.journal.record(sampleGeneration({ id: 'gen-first' }));
  await assert.rejects(second.records.wait(), /Records wait to be stored/);
  open();
  await first.journal.close();
  await second.journal.close();
});

test('goes on without a process that is silent, and names it until its records are stored', async (t) => {
  const { first, second, open, passMs } = await openTwo(t);
  await first.journal.record(sampleGeneration({ id: 'gen-first' }));
  passMs(10_001);
  await second.records.wait();
  assert.deepEqual(await second.records.silentStreams(), [first.journal.stream]);
  open();
  await first.journal.settled();
  assert.deepEqual(await second.records.silentStreams(), []);
  await first.journal.close();
  await second.journal.close();
});
