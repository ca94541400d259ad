import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { systemClock as clock } from '../../lib/clock.ts';
import { openDatabase } from '../engine/database.ts';
import { createGenerationStore } from './generations.ts';
import { ENGINES, type Place } from '../../../tests/support/store/engines.ts';
import { sampleCharge, sampleGeneration } from '../../../tests/support/store/generations.ts';

const KILLS = 4;
/** Rows that are acknowledged before the process is killed. */
const ROWS_BEFORE_KILL = 400;
const WRITERS = 8;

/** This file is its own child process: with a path in its environment it writes until it is killed. */
const { CRASH_PATH, CRASH_URL } = process.env;
if (CRASH_PATH !== undefined) await writeForever(CRASH_PATH, CRASH_URL);
else
  for (const { name, makePlace } of ENGINES)
    // @spec money-25
    test(`loses no acknowledged charge to kill -9, and makes none twice: ${name}`, { timeout: 60_000 }, async (t) => {
      const place = await makePlace();
      t.after(() => place.remove());
      const acknowledged = new Set<string>();
      for (let kill = 0; kill < KILLS; kill++) {
        for (const id of await writeAndKill(place)) acknowledged.add(id);
        assert.deepEqual(await findDifferences(place, acknowledged), [], `after kill ${kill + 1}`);
      }
      assert.ok(acknowledged.size >= KILLS * ROWS_BEFORE_KILL);
    });

async function writeForever(path: string, url: string | undefined): Promise<never> {
  const database = await openDatabase({ path, url, clock });
  const store = createGenerationStore({ database, onLost: () => process.exit(1) });
  const run = `${process.pid}-${Date.now()}`;
  let next = 0;
  const write = async (): Promise<never> => {
    for (;;) {
      const id = `gen-${run}-${next++}`;
      await store.append(sampleGeneration({ id }), {
        entries: [sampleCharge(id, 1)],
        spend: [{ subject: 'account:default', day_start_ms: 0, is_byok: 0, nano_usd: 1 }],
      });
      process.stdout.write(`${id}\n`);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return process.exit(1);
}

/** Kills a writing child process. Returns the ids that the child reported as durable until then. */
async function writeAndKill({ path, url }: Place): Promise<readonly string[]> {
  // With the test runner's own variable a child would report as a test.
  const { NODE_TEST_CONTEXT: _runner, ...env } = process.env;
  const child = spawn(process.execPath, [import.meta.filename], {
    env: { ...env, CRASH_PATH: path, ...(url !== undefined && { CRASH_URL: url }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const died = once(child, 'exit');
  const ids: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    ids.push(line);
    if (ids.length === ROWS_BEFORE_KILL) child.kill('SIGKILL');
  }
  const [, signal] = await died;
  assert.equal(signal, 'SIGKILL');
  return ids;
}

/** Lists what is missing, and where the three tables disagree. */
async function findDifferences(place: Place, acknowledged: ReadonlySet<string>): Promise<readonly string[]> {
  const database = await openDatabase({ ...place, clock });
  const { kysely } = database;
  const rows = await kysely.selectFrom('generations').select('id').execute();
  const entries = await kysely.selectFrom('ledger_entries').select('generation_id').execute();
  const spend = await kysely.selectFrom('spend').select(['nano_usd', 'requests']).executeTakeFirstOrThrow();
  await database.close();
  const found = new Set(rows.map(({ id }) => id));
  const charged = new Set(entries.map(({ generation_id }) => generation_id));
  const counts = { entries: entries.length, charged: charged.size, nanoUsd: spend.nano_usd, requests: spend.requests };
  return [
    ...[...acknowledged].filter((id) => !found.has(id)),
    ...Object.entries(counts).flatMap(([what, count]) =>
      count === rows.length ? [] : [`${what}: ${count}, generations: ${rows.length}`],
    ),
  ];
}
