import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { openJournal } from '../../src/journal/journal.ts';
import { openDatabase } from '../../src/store/engine/database.ts';
import { takeLock } from '../../src/store/engine/sqlite/claim.ts';
import { openJournalStore } from '../../src/store/journal/checkpoints.ts';
import { encodeGeneration } from '../../src/store/journal/record.ts';
import { ENGINES, type Place } from '../support/store/engines.ts';
import { sampleGeneration } from '../support/store/generations.ts';
import { makeJournalFolder, mustAgree, openTestJournal, storedIds } from '../support/store/journal.ts';

/** `npm run test:crash` runs more, but not all: each adds thousands of records, which are read after every later one. */
const KILLS = Math.min(20, Number(process.env['CRASH_KILLS'] ?? 2));
const MS_MAX = KILLS * 30_000;
/** Records that are acknowledged before the process is killed. */
const RECORDS_BEFORE_KILL = 2_000;
const WRITERS = 8;

/** This file is its own child process: with a path in its environment it writes until it is killed. */
const { CRASH_PATH, CRASH_URL, CRASH_FOLDER } = process.env;
if (CRASH_PATH !== undefined) await writeForever(CRASH_PATH, CRASH_URL);
else
  for (const { name, makePlace } of ENGINES)
    // @spec money-25
    test(`loses no acknowledged charge to kill -9, and makes none twice: ${name}`, { timeout: MS_MAX }, async (t) => {
      const place = await makePlace();
      t.after(() => place.remove());
      const folder = await makeJournalFolder(t);
      const acknowledged = new Set<string>();
      for (let kill = 0; kill < KILLS; kill++) {
        for (const id of await writeAndKill(place, folder)) acknowledged.add(id);
        const database = await openDatabase({ ...place, clock });
        const journal = await openTestJournal(t, database, { folder });
        await journal.start();
        const stored = new Set(await storedIds(database));
        assert.deepEqual([...acknowledged.difference(stored)], [], `after kill ${kill + 1}`);
        await mustAgree(database);
        assert.deepEqual(journal.reported, []);
        await journal.close();
        await database.close();
      }
      assert.ok(acknowledged.size >= KILLS * RECORDS_BEFORE_KILL);
    });

async function writeForever(path: string, url: string | undefined): Promise<never> {
  const database = await openDatabase({ path, url, clock });
  const fail = (): never => process.exit(1);
  const journal = await openJournal({
    folder: CRASH_FOLDER ?? '',
    store: await openJournalStore(database),
    durability: 'process',
    bytesMax: 1e9,
    lagMs: 1e6,
    takeLock,
    applyEarlier: () => Promise.resolve(),
    clock,
    reports: {
      // A disk that others keep busy is slow: the records that it does not take in time are not acknowledged.
      onDiskStuck: () => undefined,
      onStoreStuck: () => undefined,
      onApplied: () => undefined,
      onLost: fail,
      onDamaged: fail,
      onUnusable: fail,
      onLate: fail,
      onNoLocks: fail,
    },
  });
  const run = `${process.pid}-${Date.now()}`;
  let next = 0;
  const write = async (): Promise<never> => {
    for (;;) {
      const id = `gen-${run}-${next++}`;
      const record = encodeGeneration(sampleGeneration({ id, costNanoUsd: next, listCostNanoUsd: null }), 'default');
      const isAcknowledged = await journal.append(record).then(
        () => true,
        () => false,
      );
      if (isAcknowledged) process.stdout.write(`${id}\n`);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return fail();
}

/** Kills a writing child process. Returns the ids that the child reported as durable until then. */
async function writeAndKill({ path, url }: Place, folder: string): Promise<readonly string[]> {
  // With the test runner's own variable a child would report as a test.
  const { NODE_TEST_CONTEXT: _runner, ...env } = process.env;
  const child = spawn(process.execPath, [import.meta.filename], {
    env: { ...env, CRASH_PATH: path, CRASH_FOLDER: folder, ...(url !== undefined && { CRASH_URL: url }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const died = once(child, 'exit');
  const ids: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    ids.push(line);
    if (ids.length === RECORDS_BEFORE_KILL) child.kill('SIGKILL');
  }
  const [, signal] = await died;
  assert.equal(signal, 'SIGKILL');
  return ids;
}
