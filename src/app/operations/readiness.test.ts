import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JournalStatus } from '../../journal/journal.ts';
import { createReadiness } from './readiness.ts';

const STATUS: JournalStatus = {
  position: 0,
  bytes: 10,
  folderBytes: 10,
  bytesMax: 100,
  unwritten: 0,
  unapplied: 0,
  behindMs: 0,
  isFull: false,
  isLate: false,
  damaged: 0,
  hasOrphans: false,
  hasLocks: true,
};

/** A readiness over a journal whose status is changed by the test. */
function prepare() {
  let status = STATUS;
  const ready = createReadiness({
    database: { ping: async () => undefined },
    state: { ping: async () => undefined },
    journal: { status: () => status },
    records: { silentStreams: async () => [] },
    canReadSums: async () => true,
  });
  return (changes: Partial<JournalStatus>) => {
    status = { ...STATUS, ...changes };
    return ready();
  };
}

// @spec operation-8
test('is not ready while the journals of the folder take 90 % of their room, until they take less than 70 %', async () => {
  const readyWith = prepare();
  assert.deepEqual(await readyWith({ folderBytes: 90 }), []);
  await assert.rejects(readyWith({ folderBytes: 91 }), /the journal has no room/);
  await assert.rejects(readyWith({ folderBytes: 71 }), /the journal has no room/);
  assert.deepEqual(await readyWith({ folderBytes: 70 }), []);
  assert.deepEqual(await readyWith({ folderBytes: 90 }), []);
});

// @spec operation-8
test('names a file system without locks, and parts that were set aside', async () => {
  const readyWith = prepare();
  assert.deepEqual(await readyWith({ hasLocks: false, damaged: 1 }), [
    'damaged parts of the journal were set aside',
    'the file system of the journal has no locks',
  ]);
});
